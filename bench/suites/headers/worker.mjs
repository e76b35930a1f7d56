// Strips headers in a worker. Clocks stand still within a request, so the caller keeps time: one request makes the
// inputs, the next one only strips them.
import { HeaderStripper } from "hedgerow";

import { methods } from "./methods.mjs";

/** @import { Method } from "../../harness/methods.mjs" */
/** @typedef {{ names: string[] }} Input */
/** @typedef {{ step: "make" | "run", kind: "raw" | "headers" | "block", method: string, passes: number }} Job */

/** @type {ReturnType<typeof methods> | undefined} */
let all;

/** The inputs of the last `make`. @type {unknown[]} */
let inputs = [];

export default {
  /**
   * @param {Request} request
   * @param {{ RULES: string[], PREFIXES: string[], ALLOWED: string[], REQUESTS: Input[] }} env
   */
  async fetch(request, env) {
    all ??= methods(
      env.RULES,
      new HeaderStripper(env.RULES),
      new HeaderStripper([...env.RULES, ...env.PREFIXES]),
      new HeaderStripper(env.ALLOWED, { mode: "keep" }),
    );
    /** @type {Job} */
    const { step, kind, method, passes } = await request.json();
    const ofKind = /** @type {Method<Input, any>[]} */ (all[kind]);
    const found = ofKind.find(({ name }) => name === method);
    if (found === undefined) return new Response(`unknown method: ${method}`, { status: 404 });
    if (step === "make") {
      inputs = Array.from({ length: passes }, () => env.REQUESTS.map(found.make)).flat();
    } else {
      const { length } = env.REQUESTS;
      inputs.forEach((fresh, index) => {
        found.run(fresh, /** @type {Input} */ (env.REQUESTS[index % length]));
      });
    }
    return Response.json({ count: inputs.length });
  },
};
