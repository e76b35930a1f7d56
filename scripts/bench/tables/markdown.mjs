// Tables in Markdown.

/** @typedef {import("../../bench.mjs").Result} Result */

/** @param {string[]} head @param {string[][]} rows */
export function markdown(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |\n`;
  const rule = `|---|${head
    .slice(1)
    .map(() => "--:|")
    .join("")}\n`;
  return line(head) + rule + rows.map(line).join("");
}

/** A number as it stands in tables: three digits that count, or all of a large one. @param {number} value */
export function figure(value) {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

/** The median, and how far the samples lie apart. @param {Result | undefined} result */
export function spread(result) {
  if (result === undefined) return "";
  const { median, min, max } = result;
  return `${figure(median)} (${figure(min)} – ${figure(max)})`;
}
