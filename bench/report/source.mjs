// Where figures come from: the record, its machine, its date and its versions.
import { linkTo } from "./figures.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * The programs, packages and crates that a suite uses or compares with, by their names in records.
 *
 * @type {Record<string, string[]>}
 */
const USED = {
  headers: [
    ...["rustc", "node", "node24", "workerd", "aho-corasick", "fst", "http", "phf"],
    ...["radix_trie", "regex", "trie-hard"],
  ],
  paths: [
    ...["rustc", "node", "node24", "bloomfilter", "fastbloom", "foldhash"],
    ...["bloom-filters", "xxhashjs"],
  ],
  snapshot: ["node24", "zstd"],
  restore: ["node", "node24", "zstd", "aria2c", "curl", "desync"],
  cache: ["node", "lru-cache"],
  delta: ["node", "zstd", "curl", "desync", "qemu-img"],
  disk: ["node24", "zstd", "curl", "fio", "nbdcopy", "nbdkit", "qemu-img"],
  store: ["node24", "zstd", "curl", "desync", "qemu-img"],
  adapters: [
    ...["node24", "@hono/node-server", "autocannon", "express", "fastify", "hono", "undici"],
  ],
  start: ["node20", "node22", "node26", "workerd", "es-module-lexer", "xxhash-wasm"],
};

/** @param {Figures} figures @param {string} suite of `npm run bench` */
export function sourceOf(figures, suite) {
  const record = figures.record(suite);
  if (record === undefined) return `*No record has the suite \`${suite}\`.*\n`;
  const quick = record.quick === true ? " **A smoke run: its figures mean little.**" : "";
  return `*Record: ${linkTo(record.file)}; [method](#suite-${suite}).*${quick}\n`;
}

/**
 * A list of records: the suites, the machine, the date and the versions of each.
 *
 * @param {Figures} figures
 * @param {string[]} suites
 */
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
  const { crates, packages, engines, ...programs } = versions;
  const found = Object.assign(programs, crates, packages, suite === "start" ? engines : {});
  return (USED[suite] ?? []).flatMap((name) => {
    const version = found[name];
    if (version === undefined) return [];
    // The version number in the output of `--version`.
    const number = /\d+(?:[.-]\d+)+/.exec(String(version))?.[0] ?? version;
    return [`${name.replace(/^node\d*$/, "Node")} ${number}`];
  });
}
