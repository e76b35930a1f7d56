// Results, and what could not be measured: a failure does not stop the other benchmarks; the run fails at its end and
// lists what is missing.

import { summary } from "../../scripts/lib/measured.mjs";
import { StepError } from "../../scripts/lib/run.mjs";

/** The subject of a result. @typedef {{ suite: string, workload: string, unit: string }} About */

/** The amount of data of a measurement; a quick run has less. @typedef {Record<string, number>} Details */

/** @typedef {{ median: number, min: number, max: number }} Figures */

/** A measurement. @typedef {About & Figures & { method: string, details?: Details | undefined }} Result */

/**
 * A measurement that failed, and why.
 *
 * @typedef {{ suite: string, workload?: string, method?: string, why: string }} Missing
 */

/** @typedef {Result | Missing} Measured */

/** The Node that runs this, or the engine that emulates it, as in the names of suites. */
export const NODE =
  ["bun", "deno"].find((name) => process.versions[name] !== undefined) ??
  `node${process.versions.node.split(".")[0]}`;

/**
 * Returns the result of some samples.
 *
 * @param {About} about
 * @param {string} method
 * @param {number[]} samples
 * @param {Details} [details]
 * @returns {Result}
 */
export function result({ suite, workload, unit }, method, samples, details) {
  return { suite, workload, method, unit, ...summary(samples), details };
}

/**
 * Returns a result for each method, or why it failed.
 *
 * @template Sample
 * @param {About} about
 * @param {import("./turns.mjs").Timed<Sample>[]} timed
 * @param {(sample: Sample, round: number) => number} figure
 * @param {Details} [details]
 * @returns {Measured[]}
 */
export function resultsOf(about, timed, figure, details) {
  const { suite, workload } = about;
  return timed.map(({ name, samples, why }) =>
    why === undefined
      ? result(about, name, samples.map(figure), details)
      : { suite, workload, method: name, why },
  );
}

/**
 * Returns the results of one run for several that measured the same: the median of their medians, and the range of all.
 * A method that failed in one run is missing.
 *
 * @param {Measured[][]} runs
 * @returns {Measured[]}
 */
export function pooled(runs) {
  const [first = []] = runs;
  return first.map((one, index) => {
    const { results, missing } = separate(runs.flatMap((run) => run[index] ?? []));
    const [failed] = missing;
    if (failed !== undefined || "why" in one) return failed ?? one;
    const { median } = summary(results.map((each) => each.median));
    const min = Math.min(...results.map((each) => each.min));
    const max = Math.max(...results.map((each) => each.max));
    return { ...one, median, min, max };
  });
}

/** Returns a sample that is its own figure. @param {number} sample */
export const itself = (sample) => sample;

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
 * Separates results from failures. A result without a finite figure is a failure.
 *
 * @param {Measured[]} measured
 */
export function separate(measured) {
  /** @type {Result[]} */
  const results = [];
  /** @type {Missing[]} */
  const missing = [];
  for (const one of measured) {
    if ("why" in one) {
      missing.push(one);
    } else if ([one.median, one.min, one.max].every(Number.isFinite)) {
      results.push(one);
    } else {
      const { suite, workload, method } = one;
      missing.push({ suite, workload, method, why: "no finite figure" });
    }
  }
  return { results, missing };
}
