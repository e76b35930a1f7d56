// The JavaScript suite as a worker. Clocks stand still inside a request, so the caller keeps time:
// it asks for the same work with and without the step that is measured.
import { HeaderStripper } from "hedgerow";

import { methods } from "./methods.mjs";

/** @type {ReturnType<typeof methods> | undefined} */
let ways;

/** @typedef {{ kind: "raw" | "headers" | "block", method: string, passes: number, isRun: boolean }} Job */

export default {
  /**
   * @param {Request} request
   * @param {{ RULES: string[], PREFIXES: string[], REQUESTS: { names: string[] }[] }} env
   */
  async fetch(request, env) {
    ways ??= methods(
      env.RULES,
      new HeaderStripper(env.RULES),
      new HeaderStripper([...env.RULES, ...env.PREFIXES]),
    );
    /** @type {Job} */
    const job = await request.json();
    const method = /** @type {import("../measure.mjs").Method<any, any> | undefined} */ (
      ways[job.kind].find(({ name }) => name === job.method)
    );
    if (method === undefined) return new Response("no such method", { status: 404 });
    let done = 0;
    for (let pass = 0; pass < job.passes; pass += 1) {
      for (const input of env.REQUESTS) {
        const fresh = method.make(input);
        if (job.isRun) method.run(fresh, input);
        done += 1;
      }
    }
    return Response.json({ done });
  },
};
