// Times methods in one process, on fresh inputs.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { summary } from "../../scripts/lib/summary.mjs";

setFlagsFromString("--expose-gc");
/** @type {(options: { type: "minor" }) => void} */
const collectGarbage = runInNewContext("gc");

/** The number of inputs that are made and timed together. */
const BATCH = 256;

/**
 * A method. `make` builds the objects that a run consumes; it is not timed.
 *
 * @template Input, Fresh
 * @typedef {{ name: string, make: (input: Input) => Fresh, run: (fresh: Fresh, input: Input) => unknown }} Method
 */

/** The time of a method, or why it failed. @typedef {{ method: string, median: number, min: number, max: number } | { method: string, why: string }} Timing */

/**
 * Times methods over all inputs, on fresh objects each time. Methods take turns, so that a disturbance of the machine
 * affects all of them. A method that fails has no more turns; the others go on.
 *
 * @template Input
 * @param {Method<Input, any>[]} methods
 * @param {Input[]} inputs
 * @param {number} rounds
 * @param {number} [unit] divisor of the time per input: nanoseconds of a larger unit, or operations in an input
 * @returns {Timing[]} in nanoseconds per input, over the unit
 */
export function measure(methods, inputs, rounds, unit = 1) {
  const timed = methods.map((method) => ({
    method,
    samples: /** @type {number[]} */ ([]),
    why: /** @type {string | undefined} */ (undefined),
  }));
  const warmUp = Math.ceil(rounds / 4);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let turn = 0; turn < timed.length; turn += 1) {
      const one = /** @type {(typeof timed)[number]} */ (
        timed[(turn + round + warmUp) % timed.length]
      );
      if (one.why !== undefined) continue;
      try {
        const elapsed = time(one.method, inputs);
        if (round >= 0) one.samples.push(elapsed / inputs.length / unit);
      } catch (error) {
        one.why = String(error);
      }
    }
  }
  return timed.map(({ method: { name: method }, samples, why }) =>
    why === undefined ? { method, ...summary(samples) } : { method, why },
  );
}

/**
 * Returns the medians of methods. Throws if one of them failed.
 *
 * @param {Timing[]} timings
 * @returns {number[]}
 */
export function medians(timings) {
  return timings.map((timing) => {
    if ("why" in timing) throw new Error(`${timing.method}: ${timing.why}`);
    return timing.median;
  });
}

/**
 * Returns the time of a pass over all inputs. Young garbage is collected before each batch, so that the collection of
 * its inputs is not timed.
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

/** Keeps results alive, so that the engine does not eliminate the work. @type {unknown} */
export let sink;
