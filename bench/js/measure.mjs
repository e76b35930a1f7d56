// Timing ways to do the same work, beside each other.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { summary } from "../../scripts/lib/summary.mjs";

setFlagsFromString("--expose-gc");
/** @type {(options: { type: "minor" }) => void} */
const collectGarbage = runInNewContext("gc");

/** How many inputs are made and timed in one go. */
const BATCH = 256;

/**
 * A way to do the work. `make` builds what one run uses up, and is not timed.
 *
 * @template Input, Fresh
 * @typedef {{ name: string, make: (input: Input) => Fresh, run: (fresh: Fresh, input: Input) => unknown }} Method
 */

/** @typedef {{ method: string, median: number, min: number, max: number }} Timing */

/**
 * Times every method over all inputs, on fresh objects each time. Methods take turns, so that what
 * disturbs the machine disturbs all of them.
 *
 * @template Input
 * @param {Method<Input, any>[]} methods
 * @param {Input[]} inputs
 * @param {number} rounds
 * @returns {Timing[]} in nanoseconds an input
 */
export function measure(methods, inputs, rounds) {
  /** @type {number[][]} */
  const samples = methods.map(() => []);
  const warmUp = Math.ceil(rounds / 4);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let turn = 0; turn < methods.length; turn += 1) {
      const index = (turn + round + warmUp) % methods.length;
      const elapsed = time(/** @type {Method<Input, any>} */ (methods[index]), inputs);
      if (round >= 0) samples[index]?.push(elapsed / inputs.length);
    }
  }
  return methods.map(({ name }, index) => ({ method: name, ...summary(samples[index] ?? []) }));
}

/**
 * The time of one pass over all inputs. Young garbage is collected before each batch, so that what
 * was made for it is not collected on its time.
 *
 * @template Input
 * @param {Method<Input, any>} method
 * @param {Input[]} inputs
 */
function time({ make, run }, inputs) {
  let elapsed = 0n;
  for (let from = 0; from < inputs.length; from += BATCH) {
    const batch = inputs.slice(from, from + BATCH);
    const fresh = batch.map(make);
    collectGarbage({ type: "minor" });
    const start = process.hrtime.bigint();
    for (let index = 0; index < batch.length; index += 1) {
      sink = run(fresh[index], /** @type {Input} */ (batch[index]));
    }
    elapsed += process.hrtime.bigint() - start;
  }
  return Number(elapsed);
}

/** Keeps results alive, so that no engine leaves the work out. @type {unknown} */
export let sink;
