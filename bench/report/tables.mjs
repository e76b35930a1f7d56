// Comparisons of methods that did the same work in one run: tables, and the alternatives that are faster.
import { figure, ratio } from "./figures.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./figures.mjs").Result} Result */

/**
 * A suite of a record as a table: a row for each method, a column for each workload.
 *
 * @typedef {object} Table
 * @property {string} title
 * @property {string} suite
 * @property {RegExp} [workloads] default: all of them
 * @property {string} [ours] the method that the others are compared with. Default: `"hedgerow"`
 * @property {boolean} [more] whether more is better
 */

/**
 * A method, with its result and its ratio to ours. An `own` method is a variant of Hedgerow, a `floor` is work that
 * no method can avoid, and a `rival` is an alternative.
 *
 * @typedef {object} Outcome
 * @property {string} method
 * @property {"ours" | "own" | "rival" | "floor"} kind
 * @property {Result} result
 * @property {number} times
 * @property {boolean} ahead whether it is a rival with the better figure
 */

/** Methods whose names in records need an explanation. @type {{ [method: string]: string }} */
const LABELS = {
  "hashmap-foldhash": "`HashMap` with foldhash",
  "hashset-foldhash": "`HashSet` with foldhash",
  "hashset-siphash": "`HashSet` with SipHash",
  loop: "loop of `remove(&HeaderName)`",
  "loop-text": "loop of `remove(&str)`",
  "trie-hard": "`trie-hard`",
  fastbloom: "`fastbloom`",
  "fastbloom-foldhash": "`fastbloom` with foldhash",
  "plain-table": "plain JS table",
  "comparing-table": "plain JS table, exact match first",
  regexp: "one `RegExp`",
  "tolowercase-set": "`toLowerCase()` and a `Set`",
  "delete-loop": "120 × `delete`",
  "plain JS reader": "a reader in plain JavaScript",
  "hedgerow, trusted": "hedgerow, `validate: false`",
  json: "JSON array",
  tree: "JSON tree",
  classic: "classic sizing",
  "curl | zstd -d": "`curl \\| zstd -d`",
  "curl | zstd -d, .vhs": "`curl \\| zstd -d` of the .vhs",
  "aria2c -x 16, then zstd -d": "`aria2c -x 16`, then `zstd -d`",
  "cp --reflink=always": "`cp --reflink=always`",
  "cp --reflink=auto": "`cp --reflink=auto`",
  "cp --sparse=always": "`cp --sparse=always`",
  qcow2: "qcow2, `qemu-img` and `curl`",
  bare: "the framework alone",
  nothing: "a no-op",
  set: "own code: a `Set` and loops",
  headers: "hedgerow, headers",
  "headers and paths": "hedgerow, headers and paths",
  "nothing internal": "hedgerow, no matches",
};

const FLOORS =
  /^(floor|bare$|nothing$|local file|cp$|cp, then|reading both|zstd -3 of the changed|no fill|one fork$|node$)/;

/** Names of our variants that do not begin with ours. */
const OWN =
  /^(hedgerow|headers|nothing internal|PathSet|fuse$|\d+ (worker|conn|MiB)|\w.* (the )?size|with|first of|full snap|through)/;

/** @param {string} method */
export const labelOf = (method) => LABELS[method] ?? method.replaceAll("|", "\\|");

/**
 * Returns the methods of a workload, ours first; none if the record lacks ours.
 *
 * @param {Figures} figures
 * @param {Omit<Table, "title">} table
 * @param {string} workload
 * @returns {Outcome[]}
 */
export function outcomes(figures, { suite, ours = "hedgerow", more = false }, workload) {
  const results = figures.all(suite).filter((one) => one.workload === workload);
  const base = results.find(({ method }) => method === ours);
  if (base === undefined) return [];
  const others = results.filter((one) => one !== base);
  return [base, ...others].map((result) => {
    const { method, median } = result;
    const kind = result === base ? "ours" : kindOf(method);
    const isBetter = more ? median > base.median : median < base.median;
    const times = median === base.median ? 1 : median / base.median;
    return { method, kind, result, times, ahead: kind === "rival" && isBetter };
  });
}

/** @param {string} method */
const kindOf = (method) => (FLOORS.test(method) ? "floor" : OWN.test(method) ? "own" : "rival");

/** Returns the columns of a table: workloads with their outcomes. @param {Figures} figures @param {Table} table */
function columnsOf(figures, table) {
  const all = new Set(figures.all(table.suite).map(({ workload }) => workload));
  return [...all]
    .filter((workload) => table.workloads?.test(workload) ?? true)
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((workload) => ({ workload, found: outcomes(figures, table, workload) }))
    .filter(({ found }) => found.length > 0);
}

/** Returns a table in Markdown: medians, with the ratio to ours. @param {Figures} figures @param {Table} table */
export function markdownOf(figures, table) {
  const columns = columnsOf(figures, table);
  const all = columns.flatMap(({ found }) => found);
  const unit = all[0]?.result.unit ?? "";
  const order = { ours: 0, own: 1, rival: 2, floor: 3 };
  const methods = [...new Map(all.map((one) => [one.method, one])).values()];
  const rows = methods
    .toSorted((a, b) => order[a.kind] - order[b.kind])
    .map(({ method, kind }) => [
      kind === "ours" ? `**${labelOf(method)}**` : labelOf(method),
      ...columns.map(({ found }) => cellOf(found.find((one) => one.method === method))),
    ]);
  const head = [unit === "" ? table.title : `${table.title}, ${unit}`];
  const lines = [[...head, ...columns.map(({ workload }) => workload)], ...rows].map(
    (cells) => `| ${cells.join(" | ")} |\n`,
  );
  const rule = `|---|${"--:|".repeat(columns.length)}\n`;
  return [lines[0], rule, ...lines.slice(1)].join("");
}

/** @param {Outcome | undefined} outcome */
function cellOf(outcome) {
  if (outcome === undefined) return "";
  const { result, kind, times, ahead } = outcome;
  if (kind === "ours") return figure(result.median);
  return `${figure(result.median)} (${ahead ? `**${ratio(times)}**` : ratio(times)})`;
}

/** Returns a sentence with the alternatives that are ahead in some tables. @param {Figures} figures @param {Table[]} tables */
export function lossesOf(figures, tables) {
  const rivals = tables
    .flatMap((table) => columnsOf(figures, table).flatMap(({ found }) => found))
    .filter(({ kind }) => kind === "rival");
  const names = new Set(rivals.filter(({ ahead }) => ahead).map(({ method }) => method));
  const lost = [...names].map((name) => {
    const cases = rivals.filter(({ method }) => method === name);
    const times = cases.filter(({ ahead }) => ahead).map((one) => one.times);
    const range = new Set([Math.min(...times), Math.max(...times)].map(ratio));
    return `${labelOf(name)} (${times.length} of ${cases.length} cases, ${[...range].join("–")} ×)`;
  });
  return `**Where it loses:** ${lost.length === 0 ? "nowhere here" : lost.join("; ")}.\n`;
}
