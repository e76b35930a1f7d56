// What could not be measured: all else is measured and kept, and then the run fails and says what and why.
import { StepError } from "../../scripts/lib/run.mjs";

/** @typedef {import("../../scripts/bench.mjs").Measured} Measured */
/** @typedef {import("../../scripts/bench.mjs").Missing} Missing */
/** @typedef {import("../../scripts/bench.mjs").Result} Result */

/**
 * What `measure` returns, or what is missing because it failed.
 *
 * @param {string} suite
 * @param {() => Measured[] | Promise<Measured[]>} measure
 * @returns {Promise<Measured[]>}
 */
export async function orMissing(suite, measure) {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof StepError) return [{ suite, why: error.message }];
    console.error(error);
    return [{ suite, why: String(error) }];
  }
}

/**
 * Results apart from what is missing. A result that is no number is missing too.
 *
 * @param {Measured[]} measured
 */
export function apart(measured) {
  /** @type {Result[]} */
  const results = [];
  /** @type {Missing[]} */
  const missing = [];
  for (const one of measured) {
    if ("why" in one) missing.push(one);
    else if ([one.median, one.min, one.max].every(Number.isFinite)) results.push(one);
    else missing.push({ ...keyOf(one), why: "there is no figure" });
  }
  return { results, missing };
}

/** @param {Result} result */
const keyOf = ({ suite, workload, method }) => ({ suite, workload, method });

/** @param {Missing[]} missing */
export function sayMissing(missing) {
  const lines = missing.map(({ suite, workload, method, why }) => {
    const what = [suite, workload, method].filter((part) => part !== undefined).join(" | ");
    return `  ${what}: ${why.trim()}`;
  });
  return ["could not be measured:", ...lines].join("\n");
}

/**
 * What all parts of a suite measure; one that fails is missing.
 *
 * @param {string} suite
 * @param {Record<string, () => Measured[] | Promise<Measured[]>>} parts by their names
 */
export async function allParts(suite, parts) {
  const measured = /** @type {Measured[]} */ ([]);
  for (const [name, measure] of Object.entries(parts)) {
    measured.push(...(await orMissing(`${suite}, ${name}`, measure)));
  }
  return measured;
}
