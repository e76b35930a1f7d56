/** What Node's servers send, in a process of Node. */
import { hostileResponses } from "../../adapters/node/hostile-responses.js";
import { runSuites } from "../run-suites.js";

console.log(JSON.stringify(await runSuites(hostileResponses, undefined)));
