// Timing ways to do something that take turns.
import { spawnSync } from "node:child_process";

/**
 * A way to do it. `time` does it once, and returns what it took: how many milliseconds, or several figures.
 *
 * @template [Sample=number]
 * @typedef {{ name: string, time: () => Sample | Promise<Sample> }} Way
 */

/** What became of each way. @template [Sample=number] @typedef {{ name: string, samples: Sample[] }} Timed */

/**
 * Times ways, whose order rotates. A round before those that count makes everything warm.
 *
 * @template Sample
 * @param {Way<Sample>[]} ways
 * @param {number} rounds
 * @param {(round: number) => void} [onRound] told of each round that is done
 * @returns {Promise<Timed<Sample>[]>}
 */
export async function takeTurns(ways, rounds, onRound = () => {}) {
  const timed = ways.map((way) => ({ ...way, samples: /** @type {Sample[]} */ ([]) }));
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < timed.length; turn += 1) {
      const { time, samples } = /** @type {(typeof timed)[number]} */ (
        timed[(turn + round) % timed.length]
      );
      const elapsed = await time();
      if (round > 0) samples.push(elapsed);
    }
    onRound(round);
  }
  return timed.map(({ name, samples }) => ({ name, samples }));
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
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
