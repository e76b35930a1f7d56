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

/** What a method took, or why it could not be run. @typedef {{ method: string, median: number, min: number, max: number } | { method: string, why: string }} Timing */

/**
 * Times every method over all inputs, on fresh objects each time. Methods take turns, so that what
 * disturbs the machine disturbs all of them. The others go on without one that fails.
 *
 * @template Input
 * @param {Method<Input, any>[]} methods
 * @param {Input[]} inputs
 * @param {number} rounds
 * @param {number} [unit] how many nanoseconds, or how many things there are to do in an input
 * @returns {Timing[]} in nanoseconds an input, over the unit
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
 * The medians of methods, all of which have to have run.
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
