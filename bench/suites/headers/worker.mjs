// Strips headers in a worker. Clocks stand still within a request, so the caller keeps time: one request makes the
// inputs, the next one only strips them.
import { HeaderStripper } from "hedgerow";

import { methods, WORKLOADS, writtenAs } from "./methods.mjs";

/** @import { Method } from "../../harness/methods.mjs" */
/** @typedef {{ names: string[] }} Input */
/** @typedef {(typeof WORKLOADS)[number]} Workload */

/**
 * @typedef {object} Job
 * @property {"make" | "run"} step
 * @property {"raw" | "headers" | "block"} kind
 * @property {Workload} workload
 * @property {keyof typeof writtenAs} written
 * @property {string} method
 * @property {number} passes
 */

/** @type {ReturnType<typeof methods> | undefined} */
let all;

/** The inputs of the last `make`. @type {unknown[]} */
let inputs = [];

export default {
  /**
   * @param {Request} request
   * @param {{ RULES: string[], PREFIXES: string[], ALLOWED: string[], REQUESTS: Record<Workload, Input[]> }} env
   */
  async fetch(request, env) {
    all ??= methods(
      env.RULES,
      new HeaderStripper(env.RULES),
      new HeaderStripper([...env.RULES, ...env.PREFIXES]),
      new HeaderStripper(env.ALLOWED, { mode: "keep" }),
    );
    /** @type {Job} */
    const { step, kind, workload, written, method, passes } = await request.json();
    const ofKind = /** @type {Method<Input, any>[]} */ (all[kind]);
    const found = ofKind.find(({ name }) => name === method);
    if (found === undefined) return new Response(`unknown method: ${method}`, { status: 404 });
    const requests = env.REQUESTS[workload];
    if (step === "make") {
      const made = requests.map(writtenAs[written]);
      inputs = Array.from({ length: passes }, () => made.map(found.make)).flat();
    } else {
      inputs.forEach((fresh, index) => {
        found.run(fresh, /** @type {Input} */ (requests[index % requests.length]));
      });
    }
    return Response.json({ count: inputs.length });
  },
};
