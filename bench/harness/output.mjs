// The output of a run: its record, and tables of results and failures.

/** @import { Missing, Result } from "./results.mjs" */

/**
 * Returns the text of a record: JSON with one result a line, so that a diff shows which results changed.
 *
 * @param {{ missing: unknown[], results: unknown[] }} record
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

/**
 * Prints a row for each method, fastest first, with its ratio to Hedgerow and the median that is on record.
 *
 * @param {Result[]} results
 * @param {import("../report/figures.mjs").Figures} recorded
 */
export function printResults(results, recorded) {
  const groups = /** @type {Map<string, Result[]>} */ (new Map());
  for (const result of results) {
    const title = `${result.suite}, ${result.workload}`;
    groups.set(title, [...(groups.get(title) ?? []), result]);
  }
  for (const [title, rows] of groups) {
    const ours = rows.find(({ method }) => method === "hedgerow")?.median ?? Number.NaN;
    console.log(`\n${title}`);
    for (const result of rows.toSorted((a, b) => a.median - b.median)) {
      const { suite, workload, method, median, min, max, unit } = result;
      const before = recorded.find(suite, workload, method)?.median ?? "none";
      const ratio = Number.isFinite(median / ours) ? `${(median / ours).toFixed(2)} ×` : "";
      console.log(
        `  ${method.padEnd(28)}${String(median).padStart(10)} ${unit.padEnd(11)}${ratio.padStart(9)}   ${min} – ${max}, recorded ${before}`,
      );
    }
  }
}

/** @param {Missing[]} missing */
export function missingText(missing) {
  const lines = missing.map(({ suite, workload, method, why }) => {
    const name = [suite, workload, method].filter((part) => part !== undefined).join(" | ");
    return `  ${name}: ${why.trim()}`;
  });
  return ["could not be measured:", ...lines].join("\n");
}
