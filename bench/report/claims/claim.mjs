// A figure that README claims, and what stands beside it.

/** @typedef {import("../../../scripts/bench.mjs").Result} Result */
/** @typedef {import("../given.mjs").Key} Key */

/**
 * @typedef {object} Claim
 * @property {string} says what took that long, or was that large
 * @property {Key} key where a record has it
 * @property {{ says: string, key: Key }[]} rivals of the same run
 */

/** Finds a result. @typedef {(...key: Key) => Result | undefined} Find */

/**
 * A claim beside other methods of the same suite and workload.
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
 * What results say of a claim: its own, those of rivals beside it, and what has none.
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
