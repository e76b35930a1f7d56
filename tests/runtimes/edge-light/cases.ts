/** The cases, in the edge-light VM. */
import { memoryBytes } from "../../support/memories.js";

// What counts memories comes before what instantiates modules.

import { suites } from "../../cases/index.js";
import { runSuites } from "../run-suites.js";

const { headers: immutable } = Response.redirect("http://localhost/elsewhere");
export const outcomes = runSuites(suites, { immutable, memoryBytes });
