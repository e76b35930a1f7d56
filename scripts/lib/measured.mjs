// Measures, summarises and prints figures.

/** Measures an action, in milliseconds. @param {() => unknown} action */
export async function timed(action) {
  const start = performance.now();
  await action();
  return Math.round(performance.now() - start);
}

/** @param {number} bytes */
export const megabytes = (bytes) => Math.round(bytes / 1e6);

/** @param {number[]} samples */
export function summary(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ index) => Number((sorted[index] ?? Number.NaN).toPrecision(4));
  return { median: at(sorted.length >> 1), min: at(0), max: at(sorted.length - 1) };
}

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
