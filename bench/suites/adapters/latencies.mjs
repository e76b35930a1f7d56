// Percentiles of latencies.

/** @param {number[]} times in milliseconds */
export function latencies(times) {
  const sorted = Float64Array.from(times).sort();
  const at = (/** @type {number} */ share) =>
    sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
