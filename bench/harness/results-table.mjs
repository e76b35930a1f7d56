// Prints results as tables: a row for each method, fastest first, with its ratio to Hedgerow.

/** @typedef {import("./results.mjs").Result} Result */

/** @param {Result[]} results */
export function printResults(results) {
  for (const [title, rows] of grouped(results)) {
    const ours = rows.find(({ method }) => method === "hedgerow")?.median ?? Number.NaN;
    console.log(`\n${title}`);
    for (const { method, median, min, max, unit } of rows.toSorted((a, b) => a.median - b.median)) {
      const ratio = Number.isFinite(median / ours) ? `${(median / ours).toFixed(2)} ×` : "";
      console.log(
        `  ${method.padEnd(28)}${String(median).padStart(10)} ${unit.padEnd(11)}${ratio.padStart(9)}   ${min} – ${max}`,
      );
    }
  }
}

/** @param {Result[]} results @returns {Map<string, Result[]>} */
function grouped(results) {
  const groups = new Map();
  for (const result of results) {
    const title = `${result.suite}, ${result.workload}`;
    groups.set(title, [...(groups.get(title) ?? []), result]);
  }
  return groups;
}
