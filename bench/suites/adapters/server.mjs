// A server in a process of its own: `server.mjs FRAMEWORK VARIANT FOLDER`. It sends its port to its parent, and replies
// to each question with its number of requests and its processor time.
import { FRAMEWORKS } from "./frameworks.mjs";
import { setupOf } from "./messages.mjs";
import { answerParent, processorTime } from "./processes.mjs";

const [, , framework = "", variant = "", folder = ""] = process.argv;
const start = FRAMEWORKS[framework];
if (start === undefined) throw new Error(`unknown framework: ${framework}`);
let served = 0;
const port = await start(setupOf(variant, folder), () => {
  served += 1;
});
answerParent(port, () => ({ served, processor: processorTime() }));
