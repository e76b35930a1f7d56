// Methods that were measured together, for the same thing: what tables, charts and losses are made of.

/** @typedef {import("../../scripts/bench.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * A method: another's, one of ours beside the one that is compared, or a floor that no method gets below.
 *
 * @typedef {object} Method
 * @property {string} method as the record has it
 * @property {string} says as people read it
 * @property {"ours" | "own" | "rival" | "floor"} kind
 * @property {string} [suite] where it is, if not where the comparison is
 * @property {string} [workload]
 */

/**
 * @typedef {object} Comparison
 * @property {string} title what sets it apart from others beside it
 * @property {string} suite
 * @property {string} workload
 * @property {Method[]} methods
 * @property {string} [place] what losses call it, if not by its title
 * @property {"less" | "more"} [better] which figures are the better ones; less, unless it is said
 */

/** A method and what it took, beside ours. @typedef {Method & { result: Result, times: number, ahead: boolean }} Outcome */

/** @param {string} [says] @param {string} [method] @returns {Method} */
export const ours = (says = "hedgerow", method = "hedgerow") => ({ method, says, kind: "ours" });

/** @param {string} method @param {string} [says] @returns {Method} */
export const own = (method, says = method) => ({ method, says, kind: "own" });

/** @param {string} method @param {string} [says] @returns {Method} */
export const rival = (method, says = method) => ({ method, says, kind: "rival" });

/** @param {string} method @param {string} says @returns {Method} */
export const floor = (method, says) => ({ method, says: `floor: ${says}`, kind: "floor" });

/**
 * What a record has of a comparison; nothing where it lacks ours, since then nothing is compared.
 *
 * @param {Figures} figures
 * @param {Comparison} comparison
 * @returns {Outcome[]}
 */
export function outcomes(figures, comparison) {
  const { methods, better = "less" } = comparison;
  const base = methods
    .filter(({ kind }) => kind === "ours")
    .map((method) => resultOf(figures, comparison, method))[0];
  if (base === undefined) return [];
  return methods.flatMap((method) => {
    const result = resultOf(figures, comparison, method);
    if (result === undefined) return [];
    const ahead = better === "less" ? result.median < base.median : result.median > base.median;
    const times = result.median === base.median ? 1 : result.median / base.median;
    return [{ ...method, result, times, ahead: ahead && method.kind === "rival" }];
  });
}

/** @param {Figures} figures @param {Comparison} comparison @param {Method} method */
function resultOf(figures, comparison, { suite, workload, method }) {
  return figures.find(suite ?? comparison.suite, workload ?? comparison.workload, method);
}

/** A result in a larger unit. @param {Result} result @param {number} by */
export function divided({ median, min, max }, by) {
  return { median: median / by, min: min / by, max: max / by };
}

/**
 * What a record lacks of comparisons: those that are not in it at all, and methods that are in none of them.
 *
 * @param {Figures} figures
 * @param {Comparison[]} comparisons
 */
export function lacking(figures, comparisons) {
  const found = comparisons.map((comparison) => outcomes(figures, comparison));
  const whole = comparisons.filter((_, index) => found[index]?.length === 0);
  const names = (/** @type {Method[]} */ methods) => methods.map(({ says }) => says);
  const there = new Set(found.flatMap(names));
  const all = new Set(comparisons.flatMap(({ methods }) => names(methods)));
  const some = whole.length < comparisons.length ? [...all].filter((one) => !there.has(one)) : [];
  return [...whole.map(({ title }) => title), ...some];
}
