// A figure that the README claims, and the rivals it is compared with.

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("../plain-table.mjs").Key} Key */

/**
 * @typedef {object} Claim
 * @property {string} says what was measured
 * @property {Key} key of the result
 * @property {{ says: string, key: Key }[]} rivals measured in the same run
 */

/** Finds a result. @typedef {(...key: Key) => Result | undefined} Find */

/**
 * Returns a claim compared with other methods of the same suite and workload.
 *
 * @param {string} says
 * @param {Key} key
 * @param {[method: string, says: string][]} [rivals]
 * @returns {Claim}
 */
export function beside(says, key, rivals = []) {
  const [suite, workload] = key;
  return {
    says,
    key,
    rivals: rivals.map(([method, named]) => ({ says: named, key: [suite, workload, method] })),
  };
}

/**
 * Returns the result of a claim, the ratios of its rivals, and what has no result.
 *
 * @param {Claim} claim
 * @param {Find} find
 */
export function outcomeOf({ says, key, rivals }, find) {
  const own = find(...key);
  const found = rivals.map((rival) => ({ ...rival, result: find(...rival.key) }));
  const lacking = [
    ...(own === undefined ? [`${says} (${key.join(" | ")})`] : []),
    ...found
      .filter(({ result }) => result === undefined)
      .map((rival) => `${says}, beside ${rival.says} (${rival.key.join(" | ")})`),
  ];
  const times = found.map(({ says: named, result }) => ({
    says: named,
    times: (result?.median ?? Number.NaN) / (own?.median ?? Number.NaN),
  }));
  return { own, rivals: times, lacking };
}
