// Results, and what could not be measured: a failure does not stop the other benchmarks; the run fails at its end and
// lists what is missing.
import { StepError } from "../../scripts/lib/run.mjs";

/**
 * A measurement. `details` has the amount of data, of which a quick run has less.
 *
 * @typedef {{ suite: string, workload: string, method: string, unit: string, median: number, min: number, max: number, details?: Record<string, number> | undefined }} Result
 */

/** A measurement that failed, and why. @typedef {{ suite: string, workload?: string, method?: string, why: string }} Missing */

/** @typedef {Result | Missing} Measured */

/**
 * Returns the results of `measure`, or an entry for a missing suite if it fails.
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
 * Measures all parts of a suite; a part that fails is missing.
 *
 * @param {string} suite
 * @param {Record<string, () => Measured[] | Promise<Measured[]>>} parts by name
 */
export async function measureParts(suite, parts) {
  const measured = /** @type {Measured[]} */ ([]);
  for (const [name, measure] of Object.entries(parts)) {
    measured.push(...(await orMissing(`${suite}, ${name}`, measure)));
  }
  return measured;
}

/**
 * Separates results from what is missing. A result without a finite figure is missing.
 *
 * @param {Measured[]} measured
 */
export function separate(measured) {
  /** @type {Result[]} */
  const results = [];
  /** @type {Missing[]} */
  const missing = [];
  for (const one of measured) {
    if ("why" in one) missing.push(one);
    else if ([one.median, one.min, one.max].every(Number.isFinite)) results.push(one);
    else missing.push({ ...keyOf(one), why: "no finite figure" });
  }
  return { results, missing };
}

/** @param {Result} result */
const keyOf = ({ suite, workload, method }) => ({ suite, workload, method });

/** @param {Missing[]} missing */
export function missingText(missing) {
  const lines = missing.map(({ suite, workload, method, why }) => {
    const name = [suite, workload, method].filter((part) => part !== undefined).join(" | ");
    return `  ${name}: ${why.trim()}`;
  });
  return ["could not be measured:", ...lines].join("\n");
}
