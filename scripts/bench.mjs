// Runs benchmarks: `npm run bench -- [suite …] [--json FILE]`.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

import { build } from "./build.mjs";
import { inRoot, node24 } from "./lib/paths.mjs";
import { capture, main, StepError, step } from "./lib/run.mjs";
import { installSuite } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

/** @typedef {{ suite: string, workload: string, method: string, unit: string, median: number, min: number, max: number }} Result */

/** @type {Record<string, () => Promise<Result[]>>} */
const SUITES = {
  adapters: async () => (await import("./bench/adapters.mjs")).benchAdapters(),
  cache: async () => (await import("./bench/cache.mjs")).benchCache(),
  headers: async () => (await import("./bench/headers.mjs")).benchHeaders(),
  paths: async () => (await import("./bench/paths.mjs")).benchPaths(),
  restore: async () => (await import("./bench/restore.mjs")).benchRestore(),
  snapshot: async () => (await import("./bench/snapshot.mjs")).benchSnapshot(),
  start: async () => (await import("./bench/start.mjs")).benchStart(),
};

/** What adapters are for, what loads them, and what is used first beside ours. */
const PACKAGES = [
  ...["@hono/node-server", "autocannon", "es-module-lexer", "express", "fastify", "hono", "undici"],
  "xxhash-wasm",
];

await main(async () => {
  const { suites, json } = parse(process.argv.slice(2));
  setup();
  build();
  // Node 24, and what else has its first uses measured.
  installSuite("tests/runtimes", ["hedgerow"]);
  const results = [];
  for (const suite of suites) results.push(...((await SUITES[suite]?.()) ?? []));
  const { printSummary } = await import("./bench/summary.mjs");
  printSummary(results);
  if (json !== undefined) {
    const record = {
      machine: machine(),
      date: new Date().toISOString(),
      versions: versions(),
      results,
    };
    writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`);
    step(`written to ${json}`);
  }
});

/** @param {string[]} args */
function parse(args) {
  const suites = [];
  let json;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--json") {
      index += 1;
      json = args[index];
      if (json === undefined) throw new StepError("--json: expected a file");
    } else if (arg in SUITES) {
      suites.push(arg);
    } else {
      throw new StepError(
        `expected ${Object.keys(SUITES).join(", ")} or --json FILE, found ${arg}`,
      );
    }
  }
  return { suites: suites.length === 0 ? Object.keys(SUITES) : suites, json };
}

function machine() {
  const all = cpus();
  return `${all[0]?.model.trim()}, ${all.length} cores, ${process.platform} ${process.arch}`;
}

function versions() {
  return {
    rustc: capture("rustc", ["--version"])?.trim(),
    node: process.version,
    node24: capture(node24, ["--version"])?.trim(),
    workerd: capture("workerd", ["--version"])?.trim(),
    engines: pinned(["tests", "runtimes"], ["node20", "node22", "node24", "node26", "workerd"]),
    packages: pinned([], PACKAGES),
    clang: capture("clang", ["--version"])?.split("\n")[0],
    zstd: capture("zstd", ["--version"])?.trim(),
    curl: capture("curl", ["--version"])?.split("\n")[0],
    desync: /folbricht\/desync (\S+)/.exec(
      readFileSync(inRoot("tests", "tools", "go.mod"), "utf8"),
    )?.[1],
  };
}

/**
 * What a `package.json` pins.
 *
 * @param {string[]} folder
 * @param {string[]} names
 */
function pinned(folder, names) {
  const file = readFileSync(inRoot(...folder, "package.json"), "utf8");
  const { dependencies, devDependencies } = JSON.parse(file);
  const all = { ...dependencies, ...devDependencies };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}
