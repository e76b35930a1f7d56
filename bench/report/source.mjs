// Where figures come from: the record, its machine, its date and its versions.
import { linkTo } from "./figures.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/** Names of versions in records, and as documents write them. */
const NAMES = {
  rustc: "rustc",
  node: "Node",
  node24: "Node",
  workerd: "workerd",
  zstd: "zstd",
  curl: "curl",
  desync: "desync",
};

/** Those that a suite depends on. @type {Record<string, (keyof typeof NAMES)[]>} */
const USED = {
  headers: ["rustc", "node", "node24", "workerd"],
  paths: ["rustc", "node", "node24"],
  snapshot: ["node24", "zstd"],
  restore: ["node", "node24", "zstd", "curl", "desync"],
  cache: ["node"],
  adapters: ["node24"],
};

/** Packages and crates that a suite depends on or compares with. @type {Record<string, string[]>} */
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
  const quick = record.quick === true ? " **A smoke run: its figures mean little.**" : "";
  return `*Record: ${linkTo(record.file)}; [method](#suite-${suite}).*${quick}\n`;
}

/** A list of records: the suites, the machine, the date and the versions of each. @param {Figures} figures @param {string[]} suites */
export function recordsOf(figures, suites) {
  /** @type {Map<import("./figures.mjs").Record, string[]>} */
  const found = new Map();
  for (const suite of suites) {
    const record = figures.record(suite);
    if (record !== undefined) found.set(record, [...(found.get(record) ?? []), suite]);
  }
  const lines = [...found].map(([record, of]) => {
    const versions = new Set(of.flatMap((suite) => versionsOf(record, suite)));
    const about = [machineOf(record.machine), record.date.slice(0, 10), ...versions].join(", ");
    return `- ${linkTo(record.file)} (${of.map((suite) => `\`${suite}\``).join(", ")}): ${about}\n`;
  });
  return lines.length === 0 ? "No records.\n" : lines.join("");
}

/** @param {unknown} machine a line of text, or an object */
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

/** The version number in the output of `--version`. @param {string} output */
const numberOf = (output) => /\d+(?:[.-]\d+)+/.exec(output)?.[0] ?? output;
