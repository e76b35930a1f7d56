// A server in a process of its own: `server.mjs FRAMEWORK VARIANT FOLDER`. It sends its port to its parent, and replies to
// each question with its number of requests and its processor time.
import { FRAMEWORKS } from "./frameworks.mjs";
import { setupOf } from "./messages.mjs";
import { answerParent } from "./processes.mjs";

const [, , framework = "", variant = "", folder = ""] = process.argv;
const start = FRAMEWORKS[framework];
if (start === undefined) throw new Error(`unknown framework: ${framework}`);
const setup = setupOf(/** @type {import("./plan.mjs").Variant} */ (variant), folder);
let served = 0;
const port = await start(setup, () => {
  served += 1;
});
answerParent(port, () => ({ served, processor: processorTime() }));

/** Returns the processor time in microseconds, garbage collection and compilers included. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
