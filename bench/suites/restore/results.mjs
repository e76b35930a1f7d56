// Turns runs into results.
import { summary } from "../../../scripts/lib/summary.mjs";
import { WORKERS } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Result} Result */
/** @typedef {import("../../harness/results.mjs").Measured} Measured */
/** @typedef {import("./turns.mjs").Run} Run */
/** @typedef {import("./turns.mjs").Timed} Timed */

const SUITE = `snapshot-restore-node${process.versions.node.split(".")[0]}`;

/**
 * @param {string} quantity empty for the time
 * @param {string} workload
 * @param {string} method
 * @param {string} unit
 * @param {number[]} samples
 * @returns {Result}
 */
function result(quantity, workload, method, unit, samples) {
  const suite = quantity === "" ? SUITE : `${SUITE}, ${quantity}`;
  return { suite, workload, method, unit, ...summary(samples) };
}

/**
 * Returns a function that makes a result of one figure of a method’s runs.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {string} unit
 * @param {(run: Run) => number} pick
 * @returns {(timed: Timed) => Result}
 */
const rowOf =
  (quantity, workload, unit, pick) =>
  ({ name, samples }) =>
    result(quantity, workload, name, unit, samples.map(pick));

/**
 * Returns the time of each method, or why it failed.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {Result["details"]} details
 * @returns {Measured[]}
 */
export function times(workload, timed, details) {
  const rowOfTime = rowOf("", workload, "ms", ({ elapsed }) => elapsed);
  return timed.map((one) =>
    one.why === undefined
      ? { ...rowOfTime(one), details }
      : { suite: SUITE, workload, method: one.name, why: one.why },
  );
}

/** @param {Timed[]} timed */
const succeeded = (timed) => timed.filter(({ why }) => why === undefined);

/** Returns the peak memory of Hedgerow. @param {string} workload @param {Timed[]} timed @returns {Result[]} */
export function memory(workload, timed) {
  return hedgerowOf(timed).map(
    rowOf("peak memory", workload, "MiB", ({ memory: bytes = 0 }) => bytes / 2 ** 20),
  );
}

/** Only Hedgerow reports its memory. @param {Timed[]} timed */
const hedgerowOf = (timed) => timed.filter(({ samples: [first] }) => first?.memory !== undefined);

/**
 * Returns requests, bytes and failures.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} needed size of the snapshot in bytes
 * @returns {Result[]}
 */
export function traffic(workload, timed, needed) {
  /** @typedef {(quantity: string, unit: string, pick: (run: Run) => number) => Result[]} Rows */
  /** @type {Rows} */
  const ofAll = (quantity, unit, pick) =>
    succeeded(timed).map(rowOf(quantity, workload, unit, pick));
  /** @type {Rows} */
  const ofOurs = (quantity, unit, pick) =>
    hedgerowOf(timed).map(rowOf(quantity, workload, unit, pick));
  return [
    ...ofAll("bytes sent", "MB", ({ bytes }) => bytes / 1e6),
    ...ofAll("requests", "", ({ requests }) => requests),
    ...ofAll("processor time of the server", "ms", ({ serverProcessor }) => serverProcessor),
    ...succeeded(timed).map(({ name, samples }) => {
      const failures = samples.reduce((sum, run) => sum + run.failures, 0);
      return result("tries that failed in all rounds", workload, name, "", [failures]);
    }),
    ...ofOurs("bytes sent over needed", "×", ({ bytes }) => bytes / needed),
    ...ofOurs("retries", "", ({ retries = 0 }) => retries),
    ...ofOurs("hedged", "", ({ hedged = 0 }) => hedged),
    ...ofOurs("processor time", "ms", ({ processor = 0 }) => processor),
  ];
}

/**
 * Returns the lower bound of a restore: the time of its slowest step alone.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} connections of the step that fetches
 * @returns {Result[]}
 */
export function lowerBound(workload, timed, connections) {
  const runs = timed.flatMap((one) => one.samples);
  const samples = (/** @type {"fetch" | "decode" | "write"} */ part) =>
    runs.flatMap((run) => run[part] ?? []);
  const parts = {
    fetch: samples("fetch"),
    [`decode, over ${WORKERS} threads`]: samples("decode").map((time) => time / WORKERS),
    "write, 1 thread": samples("write"),
  };
  const slowest = Math.max(...Object.values(parts).map((times) => summary(times).median));
  const ours = timed.find(({ name }) => name === "hedgerow")?.samples.map(({ elapsed }) => elapsed);
  const rows = Object.entries(parts).map(([name, times]) => ({
    ...result("least", workload, name, "ms", times),
    details: { connections },
  }));
  return [
    ...rows,
    result("least", workload, "the slowest of these", "ms", [slowest]),
    result("least", workload, "hedgerow", "ms", ours ?? []),
    result(
      "time over the least",
      workload,
      "hedgerow",
      "×",
      (ours ?? []).map((time) => time / slowest),
    ),
  ];
}
