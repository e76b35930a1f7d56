// Formats figures, units, ratios and tables.

/** The next larger unit, of `STEP` smaller ones. @type {Record<string, string>} */
const LARGER = { ns: "µs", µs: "ms", ms: "s", bytes: "kB", kB: "MB" };
const STEP = 1000;

/** Separates thousands by commas. @param {number} value */
export const grouped = (value) => value.toLocaleString("en");

/** Formats a number with three significant digits, or as an integer. @param {number} value */
export function figure(value) {
  if (Math.abs(value) >= STEP) return grouped(Math.round(value));
  if (value === 0) return "0";
  if (Math.abs(value) < 0.1) return `${Number(value.toPrecision(2))}`;
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/**
 * Formats a number with its unit or a larger one, without the "per" of the unit.
 *
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function withUnit(value, unit) {
  if (unit === "×") return ratio(value);
  const [name = ""] = unit.split("/");
  const larger = LARGER[name];
  if (larger !== undefined && Math.abs(value) >= STEP) return withUnit(value / STEP, larger);
  return name === "" ? figure(value) : `${figure(value)} ${name}`;
}

/** Formats a ratio with its sign. @param {number} value */
export const ratio = (value) => `${bareRatio(value)} ×`;

/** Formats a ratio, near one with the digits that show on which side it is. @param {number} value */
export function bareRatio(value) {
  const apart = Math.abs(value - 1);
  if (value >= 99.5) return grouped(Math.round(value));
  if (apart > 0 && apart < 0.01) return value.toFixed(apart < 0.0005 ? 5 : 3);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/**
 * Returns a Markdown table, with a note on results that the records lack.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 * @param {string[]} lacking
 */
export function markdown(head, rows, lacking) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |\n`;
  const rule = `|---|${"--:|".repeat(head.length - 1)}\n`;
  const table = rows.length === 0 ? [] : [line(head) + rule + rows.map(line).join("")];
  return [...table, ...(lacking.length === 0 ? [] : [missing(lacking)])].join("\n");
}

/** Returns a note on results that the records lack. @param {string[]} what */
export const missing = (what) => `Not in this record: ${what.join("; ")}.\n`;

/** Removes the syntax of Markdown from a label. @param {string} text */
export const plain = (text) => text.replaceAll(/[`*]|\\(?=\|)/g, "");
