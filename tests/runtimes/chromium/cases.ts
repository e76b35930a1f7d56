/** Runs the cases in a page. */
import { memoryBytes } from "../../support/memories.js";

// The memory counter has to load before any module is instantiated.

import { suites } from "../../cases/index.js";
import { runSuites } from "../run-suites.js";

const { headers: immutable } = Response.redirect("http://localhost/elsewhere");
Object.assign(globalThis, { outcomes: runSuites(suites, { immutable, memoryBytes }) });
