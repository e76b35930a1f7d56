// Where a section's figures come from: the record, its machine, its date and its versions.
import { linkTo } from "./figures.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/** Versions by the names that records give them, and how people write them. */
const NAMES = {
  rustc: "rustc",
  node: "Node",
  node24: "Node",
  workerd: "workerd",
  zstd: "zstd",
  curl: "curl",
  desync: "desync",
};

/** Which of them a suite depends on. @type {Record<string, (keyof typeof NAMES)[]>} */
const USED = {
  headers: ["rustc", "node", "node24", "workerd"],
  paths: ["rustc", "node", "node24"],
  snapshot: ["node24", "zstd"],
  restore: ["node", "node24", "zstd", "curl", "desync"],
  cache: ["node"],
  adapters: ["node24"],
};

/** Packages and crates that suites depend on, or are compared with. @type {Record<string, string[]>} */
const PACKAGES = {
  headers: ["aho-corasick", "fst", "http", "phf", "radix_trie", "regex", "trie-hard"],
  paths: ["bloomfilter", "fastbloom", "foldhash", "bloom-filters", "xxhashjs"],
  cache: ["lru-cache"],
  adapters: ["@hono/node-server", "autocannon", "express", "fastify", "hono", "undici"],
  start: ["es-module-lexer", "xxhash-wasm"],
};

/** @param {Figures} figures @param {string} suite of `npm run bench` */
export function sourceOf(figures, suite) {
  const record = figures.record(suite);
  if (record === undefined) return `*No record has the suite \`${suite}\`.*\n`;
  const parts = [machineOf(record.machine), record.date.slice(0, 10), ...versionsOf(record, suite)];
  const quick = record.quick === true ? " **A smoke run: its figures tell little.**" : "";
  return `*Record: ${linkTo(record.file)}. ${parts.join(", ")}.*${quick}\n`;
}

/** @param {unknown} machine a line, or fields in later records */
export function machineOf(machine) {
  return typeof machine === "object" && machine !== null
    ? Object.values(machine).join(", ")
    : String(machine);
}

/** @param {import("./figures.mjs").Record} record @param {string} suite */
function versionsOf({ versions }, suite) {
  const used = (USED[suite] ?? []).map((name) => [NAMES[name], versions[name]]);
  const engines = suite === "start" ? named(versions.engines) : [];
  const packages = [...named(versions.crates), ...named(versions.packages)].filter(([name]) =>
    PACKAGES[suite]?.includes(name),
  );
  return [...used, ...engines, ...packages]
    .filter(([, version]) => version !== undefined)
    .map(([name, version]) => `${name} ${numberOf(String(version))}`);
}

/** @param {unknown} versions @returns {[string, unknown][]} */
function named(versions) {
  const all = Object.entries(versions ?? {});
  return all.map(([name, version]) => [name.replace(/^node\d+$/, "Node"), version]);
}

/** The number in what a program says of itself. @param {string} said */
const numberOf = (said) => /\d+(?:[.-]\d+)+/.exec(said)?.[0] ?? said;
