/** Runs the cases of responses of Node's servers, in a process of Node. */
import { hostileResponses } from "../../adapters/node/hostile-responses.js";
import { runSuites } from "../run-suites.js";

console.log(JSON.stringify(await runSuites(hostileResponses, undefined)));
