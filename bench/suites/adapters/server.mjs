// A server in a process of its own: `server.mjs FRAMEWORK WAY FOLDER`. It says where it listens, and, as often as it
// is asked, how much it has worked.
import { FRAMEWORKS } from "./frameworks.mjs";
import { addedFor } from "./messages.mjs";
import { answerParent } from "./processes.mjs";

const [, , framework = "", way = "", folder = ""] = process.argv;
const start = FRAMEWORKS[framework];
if (start === undefined) throw new Error(`no such framework: ${framework}`);
const added = addedFor(/** @type {import("./plan.mjs").Way} */ (way), folder);
let served = 0;
const port = await start(added, () => {
  served += 1;
});
answerParent(port, () => ({ served, processor: processorTime() }));

/** Microseconds that processors have worked for this process, garbage collection and compilers included. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
