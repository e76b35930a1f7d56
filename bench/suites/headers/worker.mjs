// The JavaScript suite as a worker. Clocks stand still inside a request, so the caller keeps time:
// one request makes what is used up, the next one does nothing but the work.
import { HeaderStripper } from "hedgerow";

import { methods } from "./methods.mjs";

/** @typedef {{ names: string[] }} Input */
/** @typedef {{ step: "make" | "run", kind: "raw" | "headers" | "block", method: string, passes: number }} Job */

/** @type {ReturnType<typeof methods> | undefined} */
let ways;
/** What the last `make` made. @type {unknown[]} */
let made = [];

export default {
  /**
   * @param {Request} request
   * @param {{ RULES: string[], PREFIXES: string[], REQUESTS: Input[] }} env
   */
  async fetch(request, env) {
    ways ??= methods(
      env.RULES,
      new HeaderStripper(env.RULES),
      new HeaderStripper([...env.RULES, ...env.PREFIXES]),
    );
    /** @type {Job} */
    const { step, kind, method, passes } = await request.json();
    const way = /** @type {import("../../harness/measure.mjs").Method<Input, any> | undefined} */ (
      ways[kind].find(({ name }) => name === method)
    );
    if (way === undefined) return new Response("no such method", { status: 404 });
    if (step === "make") {
      made = Array.from({ length: passes }, () => env.REQUESTS.map(way.make)).flat();
    } else {
      const inputs = env.REQUESTS.length;
      made.forEach((fresh, index) => {
        way.run(fresh, /** @type {Input} */ (env.REQUESTS[index % inputs]));
      });
    }
    return Response.json({ count: made.length });
  },
};
