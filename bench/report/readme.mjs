// README's figures: one table, and the size of a Worker.
import { readFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { CLAIMS, outcomeOf } from "./claims.mjs";
import { markdown, withUnit } from "./format.mjs";
import { machineOf } from "./source.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./claims.mjs").Claim} Claim */

/** README's rows, by the labels of their claims. The table has room for eight, and shows losses too. */
const ROWS = {
  "strip an `http::HeaderMap`, native": "Strip a request of 20 headers, Rust",
  "`stripRaw`, Node 24": "Strip a request of 20 headers, Node",
  "load a filter of 24,441 paths and query it once, Node 24": "Load 24,441 paths and query one",
  "query a filter, native": "Query a path, Rust",
  "restore, 90 MB/s a connection, 30 ms to the first byte": "Restore 4 GiB, 90 MB/s a connection",
  "restore over loopback": "Restore 4 GiB, unlimited network",
  "a copy of 4 GiB, XFS": "Copy 4 GiB out of the cache, XFS",
  "a copy of 4 GiB, ext4": "Copy 4 GiB out of the cache, ext4",
};

/** The claims in README's table, with the text of their rows. */
export const HEADLINES = Object.entries(ROWS).map(([label, task]) => {
  const found = CLAIMS.find((claim) => claim.label === label);
  if (found === undefined) throw new Error(`expected a claim "${label}"`);
  return { task, claim: found };
});

/** @param {Figures} figures @returns {Map<string, string>} by the names of their marks */
export function readmeOf(figures) {
  return new Map([
    ["figures", `${tableOf(figures)}\n${sourceOf(figures)}`],
    ["figure: worker", workerSize()],
  ]);
}

/** The alternative with the smallest figure. @param {Claim} claim @param {Figures} figures */
export function bestAlternative(claim, { find }) {
  const { alternatives } = outcomeOf(claim, find);
  const measured = alternatives.filter(({ times }) => !Number.isNaN(times));
  return measured.toSorted((a, b) => a.times - b.times)[0];
}

/** @param {Figures} figures */
function tableOf(figures) {
  const rows = HEADLINES.map((headline) => ({ ...headline, cells: cellsOf(headline, figures) }));
  const table = markdown(
    ["", "Hedgerow", "Best alternative"],
    rows.flatMap(({ cells }) => (cells === undefined ? [] : [cells])),
    rows.filter(({ cells }) => cells === undefined).map(({ task }) => task),
  );
  return table.replace("--:|--:|", "--:|---|");
}

/** A row with the better figure in bold. @param {typeof HEADLINES[number]} headline @param {Figures} figures */
function cellsOf({ task, claim }, figures) {
  const own = figures.find(...claim.key);
  const best = bestAlternative(claim, figures);
  if (own === undefined || best?.result === undefined) return;
  const [ours, theirs] = [own, best.result].map(({ median, unit }) => withUnit(median, unit));
  return best.times < 1
    ? [task, `${ours}`, `**${theirs}**, ${best.label}`]
    : [task, `**${ours}**`, `${theirs}, ${best.label}`];
}

/** The machines and days of the records. @param {Figures} figures */
function sourceOf(figures) {
  const runs = HEADLINES.flatMap(({ claim }) => {
    const record = figures.record(claim.key[0]);
    if (record === undefined) return [];
    const smoke = record.quick === true ? ", a smoke run" : "";
    return [`${machineOf(record.machine)}, ${record.date.slice(0, 10)}${smoke}`];
  });
  return runs.length === 0 ? "" : `*${[...new Set(runs)].join("; ")}.*\n`;
}

/** The size of a Worker that strips headers and guards paths, as tests/packaging checks it. */
function workerSize() {
  const sizes = JSON.parse(readFileSync(inRoot("tests", "packaging", "sizes.json"), "utf8"));
  const { raw, gzip } = sizes["worker of Wrangler, headers and paths"];
  return `${(raw / 1000).toFixed(1)} kB, ${(gzip / 1000).toFixed(1)} kB compressed`;
}
