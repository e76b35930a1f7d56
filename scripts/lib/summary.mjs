// Summarises samples.

/** @param {number[]} samples */
export function summary(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ index) => Number((sorted[index] ?? Number.NaN).toPrecision(4));
  return { median: at(sorted.length >> 1), min: at(0), max: at(sorted.length - 1) };
}
