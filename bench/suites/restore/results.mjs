// What is kept of runs: a table for each thing that was measured.
import { summary } from "../../../scripts/lib/summary.mjs";
import { WORKERS } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Result} Result */
/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */
/** @typedef {import("./turns.mjs").Run} Run */
/** @typedef {import("./turns.mjs").Timed} Timed */

const SUITE = `snapshot-restore-node${process.versions.node.split(".")[0]}`;

/**
 * @param {string} what nothing for the time itself
 * @param {string} workload
 * @param {string} method
 * @param {string} unit
 * @param {number[]} samples
 * @returns {Result}
 */
function result(what, workload, method, unit, samples) {
  const suite = what === "" ? SUITE : `${SUITE}, ${what}`;
  return { suite, workload, method, unit, ...summary(samples) };
}

/**
 * A row of a table of one figure.
 *
 * @param {string} what
 * @param {string} workload
 * @param {string} unit
 * @param {(run: Run) => number} pick
 * @returns {(timed: Timed) => Result}
 */
const rowOf =
  (what, workload, unit, pick) =>
  ({ name, samples }) =>
    result(what, workload, name, unit, samples.map(pick));

/**
 * How long each took, or why it could not be run.
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

/** Those that could be run. @param {Timed[]} timed */
const working = (timed) => timed.filter(({ why }) => why === undefined);

/** How much memory ours took. @param {string} workload @param {Timed[]} timed @returns {Result[]} */
export function memory(workload, timed) {
  return own(timed).map(
    rowOf("peak memory", workload, "MiB", ({ memory: bytes = 0 }) => bytes / 2 ** 20),
  );
}

/** Ours among them. @param {Timed[]} timed */
const own = (timed) => timed.filter(({ samples: [first] }) => first?.memory !== undefined);

/**
 * What tools asked of the server, and what went wrong.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} needed how many bytes the snapshot has
 * @returns {Result[]}
 */
export function traffic(workload, timed, needed) {
  /** @typedef {(what: string, unit: string, pick: (run: Run) => number) => Result[]} Rows */
  /** @type {Rows} */
  const ofAll = (what, unit, pick) => working(timed).map(rowOf(what, workload, unit, pick));
  /** @type {Rows} */
  const ofOurs = (what, unit, pick) => own(timed).map(rowOf(what, workload, unit, pick));
  return [
    ...ofAll("bytes sent", "MB", ({ bytes }) => bytes / 1e6),
    ...ofAll("requests", "", ({ requests }) => requests),
    ...ofAll("processor time of the server", "ms", ({ serverProcessor }) => serverProcessor),
    ...working(timed).map(({ name, samples }) => {
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
 * How long restoring takes at least: as long as the slowest of its parts would take by itself.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} connections how many the bytes were fetched over
 * @returns {Result[]}
 */
export function bound(workload, timed, connections) {
  const runs = timed.flatMap((one) => one.samples);
  const samples = (/** @type {"fetch" | "decode" | "write"} */ part) =>
    runs.flatMap((run) => run[part] ?? []);
  const parts = {
    fetch: samples("fetch"),
    [`decode, over ${WORKERS} threads`]: samples("decode").map((time) => time / WORKERS),
    "write, 1 thread": samples("write"),
  };
  const least = Math.max(...Object.values(parts).map((times) => summary(times).median));
  const ours = timed.find(({ name }) => name === "hedgerow")?.samples.map(({ elapsed }) => elapsed);
  const rows = Object.entries(parts).map(([name, times]) => ({
    ...result("least", workload, name, "ms", times),
    details: { connections },
  }));
  return [
    ...rows,
    result("least", workload, "the slowest of these", "ms", [least]),
    result("least", workload, "hedgerow", "ms", ours ?? []),
    result(
      "time over the least",
      workload,
      "hedgerow",
      "×",
      (ours ?? []).map((time) => time / least),
    ),
  ];
}
