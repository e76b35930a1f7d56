// Formats figures, units, ratios and tables.

/** The next larger unit, and its factor. @type {Record<string, [unit: string, times: number]>} */
const LARGER = {
  ns: ["µs", 1000],
  µs: ["ms", 1000],
  ms: ["s", 1000],
  bytes: ["kB", 1000],
  kB: ["MB", 1000],
};

/** The limit of figures in a unit: 930 µs, but 5.14 ms. */
const LIMIT = 1000;

/** Formats a number with three significant digits, or as an integer. @param {number} value */
export function figure(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  if (value === 0) return "0";
  if (Math.abs(value) < 0.1) return `${Number(value.toPrecision(2))}`;
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/** Formats a number with its unit or a larger one. @param {number} value @param {string} unit @returns {string} */
export function withUnit(value, unit) {
  const [name = "", each] = unit.split("/");
  const [larger, times] = LARGER[name] ?? [];
  if (larger !== undefined && times !== undefined && Math.abs(value) >= LIMIT) {
    return withUnit(value / times, each === undefined ? larger : `${larger}/${each}`);
  }
  if (unit === "×") return ratio(value);
  return name === "" ? figure(value) : `${figure(value)} ${name}`;
}

/** Formats a ratio, near one with the digits that show on which side it is. @param {number} value */
export function ratio(value) {
  const apart = Math.abs(value - 1);
  if (value >= 99.5) return `${Math.round(value).toLocaleString("en")} ×`;
  if (apart > 0 && apart < 0.01) return `${value.toFixed(apart < 0.0005 ? 5 : 3)} ×`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} ×`;
}

/** Returns a table in Markdown. @param {string[]} head @param {string[][]} rows */
export function markdown(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |\n`;
  const rule = `|---|${"--:|".repeat(head.length - 1)}\n`;
  return line(head) + rule + rows.map(line).join("");
}

/** Returns a note on results that a record lacks. @param {string[]} what */
export function missing(what) {
  return `Not in this record: ${what.join("; ")}.\n`;
}

/** Removes the syntax of Markdown from a label. @param {string} text */
export const plain = (text) => text.replaceAll(/[`*]|\\(?=\|)/g, "");
