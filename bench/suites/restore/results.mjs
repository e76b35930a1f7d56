// Turns runs into results.
import { summary } from "../../../scripts/lib/measured.mjs";
import { NODE, result, resultsOf } from "../../harness/results.mjs";
import { WORKERS } from "./plan.mjs";
import { succeeded } from "./turns.mjs";

/** @import { About, Details } from "../../harness/results.mjs" */
/** @import { Run, Timed } from "./turns.mjs" */

const SUITE = `snapshot-restore-${NODE}`;

/** @param {string} quantity @param {string} workload @param {string} unit @returns {About} */
const of = (quantity, workload, unit) => ({ suite: `${SUITE}, ${quantity}`, workload, unit });

/**
 * Returns the time of each method, or why it failed.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {Details} [details]
 */
export function times(workload, timed, details) {
  const about = { suite: SUITE, workload, unit: "ms" };
  return resultsOf(about, timed, ({ elapsed }) => elapsed, details);
}

/** Only Hedgerow reports its memory. @param {Timed[]} timed */
const hedgerowOf = (timed) => timed.filter(({ samples: [first] }) => first?.memory !== undefined);

/** Returns the peak memory of Hedgerow. @param {string} workload @param {Timed[]} timed */
export const memory = (workload, timed) =>
  resultsOf(
    of("peak memory", workload, "MiB"),
    hedgerowOf(timed),
    ({ memory: bytes = 0 }) => bytes / 2 ** 20,
  );

/**
 * Returns requests, bytes and failures.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} needed size of the snapshot in bytes
 */
export function traffic(workload, timed, needed) {
  const [all, ours] = [succeeded(timed), hedgerowOf(timed)];
  /** @type {[quantity: string, unit: string, of: Timed[], figure: (run: Run) => number][]} */
  const rows = [
    ["bytes sent", "MB", all, ({ bytes }) => bytes / 1e6],
    ["requests", "", all, ({ requests }) => requests],
    ["processor time of the server", "ms", all, ({ serverProcessor }) => serverProcessor],
    ["bytes sent over needed", "×", ours, ({ bytes }) => bytes / needed],
    ["retries", "", ours, ({ retries = 0 }) => retries],
    ["hedged", "", ours, ({ hedged = 0 }) => hedged],
    ["processor time", "ms", ours, ({ processor = 0 }) => processor],
  ];
  const failed = of("tries that failed in all rounds", workload, "");
  return [
    ...rows.flatMap(([quantity, unit, some, figure]) =>
      resultsOf(of(quantity, workload, unit), some, figure),
    ),
    ...all.map(({ name, samples }) =>
      result(failed, name, [samples.reduce((sum, { failures }) => sum + failures, 0)]),
    ),
  ];
}

/**
 * Returns the lower bound of a restore: the time of its slowest step alone.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} connections of the step that fetches
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
  const hedgerow = timed.find(({ name }) => name === "hedgerow");
  const ours = hedgerow?.samples.map(({ elapsed }) => elapsed) ?? [];
  const least = of("least", workload, "ms");
  const over = of("time over the least", workload, "×");
  return [
    ...Object.entries(parts).map(([name, times]) => result(least, name, times, { connections })),
    result(least, "the slowest of these", [slowest]),
    result(least, "hedgerow", ours),
    result(
      over,
      "hedgerow",
      ours.map((time) => time / slowest),
    ),
  ];
}
