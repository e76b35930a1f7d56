// Prints aligned rows of figures.

/** @param {[label: string, value: string | number][]} rows */
export function printTable(rows) {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  console.log();
  for (const [label, value] of rows) {
    console.log(`  ${label.padEnd(width)}${value.toLocaleString("en").padStart(12)}`);
  }
  console.log();
}

/** @param {number | undefined} nanoseconds */
export const microseconds = (nanoseconds) =>
  `${((nanoseconds ?? Number.NaN) / 1000).toFixed(2)} µs`;
