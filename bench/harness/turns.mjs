// Times methods that take turns, so that a disturbance of the machine affects all of them, and logs progress on
// standard error: standard output has results as JSON.
import { spawnSync } from "node:child_process";

/**
 * A method. `time` runs it once and returns its time in milliseconds, or several figures. It is told whether the run is
 * measured, or a warm-up.
 *
 * @template [Sample=number]
 * @typedef {{ name: string, time: (isMeasured?: boolean) => Sample | Promise<Sample> }} TimedMethod
 */

/**
 * The samples of a method, or why it failed.
 *
 * @template [Sample=number]
 * @typedef {{ name: string, samples: Sample[], why?: string | undefined }} Timed
 */

/**
 * Times methods in rounds of rotating order, after some rounds of warm-up. A method that fails has no more turns; the
 * others go on.
 *
 * @template Sample
 * @param {TimedMethod<Sample>[]} methods
 * @param {number} rounds
 * @param {{ warmUps?: number, onRound?: (done: number) => void }} [options] `onRound` gets the number of measured
 * rounds that are done
 * @returns {Promise<Timed<Sample>[]>}
 */
export async function takeTurns(methods, rounds, { warmUps = 1, onRound = () => {} } = {}) {
  const timed = methods.map(({ name }) => /** @type {Timed<Sample>} */ ({ name, samples: [] }));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (let turn = 0; turn < methods.length; turn += 1) {
      const index = (turn + round) % methods.length;
      const one = /** @type {Timed<Sample>} */ (timed[index]);
      if (one.why !== undefined) continue;
      try {
        const isMeasured = round >= warmUps;
        const sample = await /** @type {TimedMethod<Sample>} */ (methods[index]).time(isMeasured);
        if (isMeasured) one.samples.push(sample);
      } catch (error) {
        one.why = String(error);
      }
    }
    onRound(Math.max(0, round + 1 - warmUps));
  }
  return timed;
}

/** Returns the time of an action in milliseconds. @param {() => unknown} action */
export async function timeOf(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** Runs a program to its end and returns its output. @param {string} command @param {string[]} args */
export function runOnce(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...{ encoding: "utf8", maxBuffer: 2 ** 28 },
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed (${status}): ${stderr}`);
  return stdout;
}

/** @param {string} text */
export function log(text) {
  process.stderr.write(`  ${text}\n`);
}

/** @param {number} bytes */
export function formatSize(bytes) {
  return bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
}

/** @param {number} seconds */
export function formatDuration(seconds) {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/**
 * Returns a function that logs the progress of rounds and the time left. Call it after each round with the number of
 * rounds that are done.
 *
 * @param {string} name
 * @param {number} rounds
 * @param {number} [every] logs one round of this many
 */
export function roundLogger(name, rounds, every = 1) {
  const begin = performance.now();
  let calls = 0;
  return (/** @type {number} */ done) => {
    calls += 1;
    if (done % every !== 0) return;
    const left = ((performance.now() - begin) / calls) * (rounds - done);
    log(`${name}: round ${done} of ${rounds}, ${formatDuration(left / 1000)} left`);
  };
}
