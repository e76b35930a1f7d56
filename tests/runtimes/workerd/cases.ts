/** The cases, in a worker: it runs all of them for one request. */
import { memoryBytes } from "../../support/memories.js";

// What counts memories comes before what instantiates modules.

import { suites } from "../../cases/index.js";
import { runSuites } from "../run-suites.js";

export default {
  async fetch({ headers }: Request): Promise<Response> {
    return Response.json(await runSuites(suites, { immutable: headers, memoryBytes }));
  },
};
