// Timing ways to do something that take turns.
import { spawnSync } from "node:child_process";

/**
 * A way to do it. `time` does it once, and returns what it took: how many milliseconds, or several figures.
 *
 * @template [Sample=number]
 * @typedef {{ name: string, time: () => Sample | Promise<Sample> }} Way
 */

/** What became of each way; `why` is there if it could not be done. @template [Sample=number] @typedef {{ name: string, samples: Sample[], why?: string | undefined }} Timed */

/**
 * Times ways, whose order rotates. Rounds before those that count make everything warm. A way that fails has
 * no more turns: the others go on, and the run tells of it in the end.
 *
 * @template Sample
 * @param {Way<Sample>[]} ways
 * @param {number} rounds
 * @param {{ warmUps?: number, onRound?: (done: number) => void }} [options] `onRound` is told how many of the
 * rounds that count are done, after each round
 * @returns {Promise<Timed<Sample>[]>}
 */
export async function takeTurns(ways, rounds, { warmUps = 1, onRound = () => {} } = {}) {
  const timed = ways.map((way) => ({
    ...way,
    samples: /** @type {Sample[]} */ ([]),
    why: /** @type {string | undefined} */ (undefined),
  }));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (let turn = 0; turn < timed.length; turn += 1) {
      const way = /** @type {(typeof timed)[number]} */ (timed[(turn + round) % timed.length]);
      if (way.why !== undefined) continue;
      try {
        const sample = await way.time();
        if (round >= warmUps) way.samples.push(sample);
      } catch (error) {
        way.why = String(error);
      }
    }
    onRound(Math.max(0, round + 1 - warmUps));
  }
  return timed.map(({ name, samples, why }) => ({ name, samples, why }));
}

/** How many milliseconds something takes. @param {() => unknown} action */
export async function timeOf(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/**
 * Runs a program to its end, and returns what it prints.
 *
 * @param {string} command
 * @param {string[]} args
 */
export function runOnce(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
