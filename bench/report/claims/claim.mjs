// A figure that every benchmark run is compared with, and the alternatives measured in the same run.

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("../plain-table.mjs").Key} Key */

/**
 * @typedef {object} Claim
 * @property {string} label what was measured
 * @property {Key} key of the result in a record
 * @property {{ label: string, key: Key }[]} alternatives
 */

/** Finds a result. @typedef {(...key: Key) => Result | undefined} Find */

/** An alternative with its result. @typedef {{ label: string, key: Key, result: Result | undefined, times: number }} Measured */

/**
 * A claim whose alternatives have the same suite and workload.
 *
 * @param {string} label
 * @param {Key} key
 * @param {[method: string, label: string][]} [alternatives]
 * @returns {Claim}
 */
export function claim(label, key, alternatives = []) {
  const [suite, workload] = key;
  return {
    label,
    key,
    alternatives: alternatives.map(([method, name]) => ({
      label: name,
      key: [suite, workload, method],
    })),
  };
}

/**
 * The results for a claim: its own, those of its alternatives, and the names of those that are missing.
 *
 * @param {Claim} claim
 * @param {Find} find
 */
export function outcomeOf({ label, key, alternatives }, find) {
  const own = find(...key);
  const found = alternatives.map((alternative) => ({
    ...alternative,
    result: find(...alternative.key),
  }));
  const missing = [
    ...(own === undefined ? [`${label} (${key.join(" | ")})`] : []),
    ...found
      .filter(({ result }) => result === undefined)
      .map((one) => `${label}, compared with ${one.label} (${one.key.join(" | ")})`),
  ];
  /** @type {Measured[]} */
  const measured = found.map((one) => ({
    ...one,
    times: (one.result?.median ?? Number.NaN) / (own?.median ?? Number.NaN),
  }));
  return { own, alternatives: measured, missing };
}
