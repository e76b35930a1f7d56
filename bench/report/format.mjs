// Figures in words: units, ratios and tables, the same way everywhere.

/** @typedef {import("../../scripts/bench.mjs").Result} Result */

/** Larger units, and how many of the smaller one they are. @type {Record<string, [unit: string, times: number]>} */
const LARGER = {
  ns: ["µs", 1000],
  µs: ["ms", 1000],
  ms: ["s", 1000],
  bytes: ["kB", 1000],
  kB: ["MB", 1000],
};

/** Until when a figure stays in its unit: 930 ms, but 5.14 ms rather than 5,140 µs. */
const LARGEST = 1000;

/** A number: three digits that count, or all of a large one. @param {number} value */
export function figure(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  if (value === 0) return "0";
  if (Math.abs(value) < 0.1) return `${Number(value.toPrecision(2))}`;
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/** A number with its unit, or with a larger one. @param {number} value @param {string} unit @returns {string} */
export function withUnit(value, unit) {
  const [name = "", each] = unit.split("/");
  const [larger, times] = LARGER[name] ?? [];
  if (larger !== undefined && times !== undefined && Math.abs(value) >= LARGEST) {
    return withUnit(value / times, each === undefined ? larger : `${larger}/${each}`);
  }
  if (unit === "×") return ratio(value);
  return name === "" ? figure(value) : `${figure(value)} ${name}`;
}

/** How many times as much, near one with the digits that tell who is ahead. @param {number} value */
export function ratio(value) {
  const apart = Math.abs(value - 1);
  if (value >= 99.5) return `${Math.round(value).toLocaleString("en")} ×`;
  if (apart > 0 && apart < 0.01) return `${value.toFixed(apart < 0.0005 ? 5 : 3)} ×`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} ×`;
}

/** A table in Markdown. @param {string[]} head @param {string[][]} rows */
export function markdown(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |\n`;
  const rule = `|---|${"--:|".repeat(head.length - 1)}\n`;
  return line(head) + rule + rows.map(line).join("");
}

/** What stands where a record lacks something. @param {string[]} what */
export function missing(what) {
  return `Not in this record: ${what.join("; ")}.\n`;
}

/** Names without what only Markdown understands. @param {string} text */
export const plain = (text) => text.replaceAll(/[`*]|\\(?=\|)/g, "");
