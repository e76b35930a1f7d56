// Methods of the suite, each a process. Their files are removed before each run, and the disk is synced.
import { execFile, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NODE, resultsOf } from "../../harness/results.mjs";

import { runOnce, timeOf } from "../../harness/turns.mjs";

/**
 * A run: its time, and of Hedgerow the time of the call, the processor time of the process, all in milliseconds, and
 * its peak memory in bytes.
 *
 * @typedef {{ elapsed: number, call?: number, processor?: number, memory?: number }} Run
 */

/** @typedef {import("../../harness/turns.mjs").TimedMethod<Run>} Method */

const execute = promisify(execFile);

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * @param {string} name
 * @param {string[]} command
 * @param {{ outputs: string[], after?: () => void, verify?: () => void, seconds?: number }} options `after` runs after
 * each run, `verify` after the first
 * @returns {Method}
 */
export function command(name, [program = "", ...args], { outputs, after, verify, seconds }) {
  let isVerified = false;
  return {
    name,
    async time() {
      for (const output of outputs) rmSync(output, { force: true });
      runOnce("sync");
      let printed = "";
      const timeout = seconds === undefined ? 0 : 1000 * seconds;
      const elapsed = await timeOf(async () => {
        printed = (await execute(program, args, { timeout })).stdout;
      });
      if (!isVerified) verify?.();
      isVerified = true;
      after?.();
      return { ...(printed.startsWith("{") ? JSON.parse(printed) : {}), elapsed };
    },
  };
}

/**
 * Hedgerow.
 *
 * @param {string} name
 * @param {"create" | "restore"} work
 * @param {string} from
 * @param {string} to
 * @param {object} options of the call, with a directory as `cache`, and a file of ranges as `changed`
 * @param {Partial<Parameters<typeof command>[2]>} [how]
 */
export function hedgerow(name, work, from, to, options, how) {
  const args = [process.execPath, here("work.mjs"), work, from, to, JSON.stringify(options)];
  return command(name, args, { outputs: [to], ...how });
}

/** Runs a script of the shell, with its arguments as `$1` and so on. @param {string} script @param {string[]} args */
export const shell = (script, ...args) => ["sh", "-e", "-c", script, "sh", ...args];

/** The floor of a comparison: reading all data of two images. @param {string[]} images */
export const readBoth = (...images) =>
  command("reading both images", [process.execPath, here("read-both.mjs"), ...images], {
    outputs: [],
  });

/** Throws unless a restored image is like the original. @param {string} image @param {string} restored */
export function compare(image, restored) {
  const { status } = spawnSync("cmp", ["-s", image, restored]);
  if (status !== 0) throw new Error("the restored image has other bytes than the original");
}

export const SUITE = `delta-${NODE}`;

/** @import { Details, Measured } from "../../harness/results.mjs" */
/** @typedef {import("../../harness/turns.mjs").Timed<Run>} Timed */

/** Returns the time of the call of each method. @param {string} quantity @param {string} workload @param {Timed[]} timed */
export const callTimes = (quantity, workload, timed) =>
  resultsOf(
    { suite: `${SUITE}, ${quantity}, the call`, workload, unit: "ms" },
    timed,
    ({ call = 0 }) => call,
  );

/**
 * Returns the time of each method, and of Hedgerow the time of the call, the processor time and the peak memory.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {Details} [details]
 * @returns {Measured[]}
 */
export function times(quantity, workload, timed, details) {
  const about = (/** @type {string} */ what, /** @type {string} */ unit) => ({
    suite: `${SUITE}, ${quantity}${what}`,
    ...{ workload, unit },
  });
  const ours = timed.filter(({ samples: [first], why }) => {
    return first?.memory !== undefined && why === undefined;
  });
  return [
    ...resultsOf(about("", "ms"), timed, ({ elapsed }) => elapsed, details),
    ...callTimes(quantity, workload, ours),
    ...resultsOf(about(", processor time", "ms"), ours, ({ processor = 0 }) => processor),
    ...resultsOf(about(", peak memory", "MiB"), ours, ({ memory = 0 }) => memory / 2 ** 20),
  ];
}
