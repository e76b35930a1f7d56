// Times methods in one process, on fresh inputs.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { summary } from "../../scripts/lib/measured.mjs";
import { takeTurns } from "./turns.mjs";

/** @import { Method } from "./methods.mjs" */
/** @import { Timed } from "./turns.mjs" */

/** @type {(options: { type: "minor" }) => void} */
let collectGarbage;
if (process.versions.bun === undefined) {
  setFlagsFromString("--expose-gc");
  collectGarbage = runInNewContext("gc");
} else {
  const { Bun } = /** @type {{ Bun: { gc(isSynchronous: boolean): void } }} */ (
    /** @type {unknown} */ (globalThis)
  );
  collectGarbage = () => Bun.gc(true);
}

/** The number of inputs that are made and timed together. */
const BATCH = 256;

/**
 * Times methods over all inputs, on fresh objects each time.
 *
 * @template Input
 * @param {Method<Input, any>[]} methods
 * @param {Input[]} inputs
 * @param {number} rounds
 * @param {number} [unit] divisor of the time per input: nanoseconds of a larger unit, or operations in an input
 * @returns {Promise<Timed[]>} in nanoseconds per input, over the unit
 */
export function measure(methods, inputs, rounds, unit = 1) {
  const timed = methods.map((method) => ({
    name: method.name,
    time: (isMeasured = true) => timeOfPass(method, inputs, isMeasured) / inputs.length / unit,
  }));
  return takeTurns(timed, rounds, { warmUps: Math.ceil(rounds / 4) });
}

/** Returns the medians of methods. Throws if one of them failed. @param {Timed[]} timed */
export function medians(timed) {
  return timed.map(({ name, samples, why }) => {
    if (why !== undefined) throw new Error(`${name}: ${why}`);
    return summary(samples).median;
  });
}

/**
 * Returns the time of a pass over all inputs. Young garbage is collected before each batch, so that the collection of
 * its inputs is not timed, but not while methods warm up: in Deno, collections cancel the optimisation of functions.
 *
 * @template Input
 * @param {Method<Input, any>} method
 * @param {Input[]} inputs
 * @param {boolean} isMeasured
 */
function timeOfPass({ make, run }, inputs, isMeasured) {
  let elapsed = 0n;
  for (let from = 0; from < inputs.length; from += BATCH) {
    const batch = inputs.slice(from, from + BATCH);
    const fresh = batch.map(make);
    if (isMeasured) collectGarbage({ type: "minor" });
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
