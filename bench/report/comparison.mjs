// Methods that did the same work in one run: the source of tables, charts and losses.
import { grouped } from "./format.mjs";

/** @typedef {import("../harness/results.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Figures} Figures */

/**
 * A measured method. `ours` is the baseline of its comparison and `own` a variant of ours; a `rival` is an
 * alternative; a `floor` is work that no method can avoid.
 *
 * @typedef {object} Method
 * @property {string} method its name in records
 * @property {string} label its name in documents
 * @property {"ours" | "own" | "rival" | "floor"} kind
 * @property {string} [suite] if not that of the comparison
 * @property {string} [workload] if not that of the comparison
 */

/**
 * @typedef {object} Comparison
 * @property {string} title of its column or its group in a chart
 * @property {string} suite
 * @property {string} workload
 * @property {Method[]} methods
 * @property {string} [place] its name in lists of losses. Default: the title
 * @property {"less" | "more"} [better] whether less or more is better. Default: `"less"`
 */

/**
 * A method with its result and its ratio to ours.
 *
 * @typedef {Method & { result: Result, times: number, ahead: boolean }} Outcome
 */

/** @param {string} [label] @param {string} [method] @returns {Method} */
export const ours = (label = "hedgerow", method = "hedgerow") => ({ method, label, kind: "ours" });

/** @param {string} method @param {string} [label] @returns {Method} */
export const own = (method, label = method) => ({ method, label, kind: "own" });

/** @param {string} method @param {string} [label] @returns {Method} */
export const rival = (method, label = method) => ({ method, label, kind: "rival" });

/** @param {string} method @param {string} label @returns {Method} */
export const floor = (method, label) => ({ method, label: `floor: ${label}`, kind: "floor" });

/**
 * Returns the same comparison with fewer methods, for a table or a chart that has no room for all.
 *
 * @template {Comparison} C
 * @param {C} comparison
 * @param {string[]} methods
 * @returns {C}
 */
export const only = (comparison, methods) => ({
  ...comparison,
  methods: comparison.methods.filter(({ method }) => methods.includes(method)),
});

/**
 * Returns a comparison for each number of paths or rules.
 *
 * @param {number[]} counts
 * @param {string} unit
 * @param {string} suite
 * @param {Method[]} methods
 * @param {string} [where] begins the names of places
 */
export const byCount = (counts, unit, suite, methods, where = "") =>
  counts.map((count) => ({
    ...{ title: grouped(count), place: `${where}${grouped(count)} ${unit}` },
    ...{ suite, workload: `${count} ${unit}`, methods },
  }));

/**
 * Returns the outcomes of a comparison; none where the record lacks our own result.
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

/**
 * Returns what a record lacks: titles of comparisons without our result, and labels of methods without any.
 *
 * @param {Figures} figures
 * @param {Comparison[]} comparisons
 */
export function lacking(figures, comparisons) {
  const found = comparisons.map((comparison) => outcomes(figures, comparison));
  const empty = comparisons.filter((_, index) => found[index]?.length === 0);
  const labels = (/** @type {Method[]} */ methods) => methods.map(({ label }) => label);
  const present = new Set(found.flatMap(labels));
  const all = new Set(comparisons.flatMap(({ methods }) => labels(methods)));
  const absent =
    empty.length < comparisons.length ? [...all].filter((one) => !present.has(one)) : [];
  return [...empty.map(({ title }) => title), ...absent];
}
