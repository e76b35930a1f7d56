// Runs benchmarks: `npm run bench -- [suite …] [--json FILE]`.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

import { build } from "./build.mjs";
import { inRoot, node24 } from "./lib/paths.mjs";
import { capture, main, run, StepError, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/** @typedef {{ suite: string, workload: string, method: string, unit: string, median: number, min: number, max: number }} Result */

/** @type {Record<string, () => Promise<Result[]>>} */
const SUITES = {
  cache: async () => (await import("./bench/cache.mjs")).benchCache(),
  headers: async () => (await import("./bench/headers.mjs")).benchHeaders(),
  paths: async () => (await import("./bench/paths.mjs")).benchPaths(),
  restore: async () => (await import("./bench/restore.mjs")).benchRestore(),
  snapshot: async () => (await import("./bench/snapshot.mjs")).benchSnapshot(),
};

await main(async () => {
  const { suites, json } = parse(process.argv.slice(2));
  setup();
  build();
  installRuntimes();
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

/** Installs the engines that results are compared on. */
function installRuntimes() {
  const folder = inRoot("bench", "runtimes");
  const { dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  if (capture(node24, ["--version"])?.trim() === `v${dependencies.node}`) return;
  step("engines for benchmarks: Node 24");
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
  });
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
    clang: capture("clang", ["--version"])?.split("\n")[0],
    zstd: capture("zstd", ["--version"])?.trim(),
    curl: capture("curl", ["--version"])?.split("\n")[0],
    desync: /folbricht\/desync (\S+)/.exec(
      readFileSync(inRoot("tests", "tools", "go.mod"), "utf8"),
    )?.[1],
  };
}
