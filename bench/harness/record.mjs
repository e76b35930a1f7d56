// The text of a record: JSON with one result a line, so that a diff shows which results changed.

/**
 * @param {{ missing: unknown[], results: unknown[] }} record
 * @returns {string}
 */
export function recordText({ missing, results, ...about }) {
  const head = JSON.stringify(about, null, 2).slice(0, -"\n}".length);
  return `${head},\n  "missing": ${linesOf(missing)},\n  "results": ${linesOf(results)}\n}\n`;
}

/** An array with one element a line. @param {unknown[]} elements */
function linesOf(elements) {
  if (elements.length === 0) return "[]";
  return `[\n${elements.map((element) => `    ${JSON.stringify(element)}`).join(",\n")}\n  ]`;
}
