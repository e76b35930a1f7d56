// Timing ways to do something that take turns.
import { spawnSync } from "node:child_process";

/** A way to do it. `time` does it once, and returns how many milliseconds that took. @typedef {{ name: string, time: () => number | Promise<number> }} Way */

/** What became of each way. @typedef {{ name: string, samples: number[] }} Timed */

/**
 * Times ways, whose order rotates. A round before those that count makes everything warm.
 *
 * @param {Way[]} ways
 * @param {number} rounds
 * @returns {Promise<Timed[]>}
 */
export async function takeTurns(ways, rounds) {
  const timed = ways.map((way) => ({ ...way, samples: /** @type {number[]} */ ([]) }));
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < timed.length; turn += 1) {
      const { time, samples } = /** @type {(typeof timed)[number]} */ (
        timed[(turn + round) % timed.length]
      );
      const elapsed = await time();
      if (round > 0) samples.push(elapsed);
    }
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
