// A client of undici, in a process of its own: `client.mjs WAY FOLDER CONNECTIONS`. It is asked to send requests to a
// port for some seconds, or a number of them, and answers with what came back and how much it worked.
import { hedgerow } from "hedgerow/undici";
import { Agent, request } from "undici";

import { latencies } from "./latencies.mjs";
import { addedFor, readRequests } from "./messages.mjs";
import { passOn } from "./pass-on.mjs";
import { answerParent } from "./processes.mjs";

const [, , way = "", folder = "", connections = ""] = process.argv;
const requests = readRequests(folder);
const added = addedFor(/** @type {import("./plan.mjs").Way} */ (way), folder);
const agent = new Agent({ connections: Number(connections) });
const interceptor = added === "nothing" ? passOn : added && hedgerow(added);
const dispatcher = interceptor ? agent.compose(interceptor) : agent;

/** @param {import("./load.mjs").Job} job */
async function send({ port, ...job }) {
  const origin = `http://127.0.0.1:${port}`;
  /** @type {number[]} */
  const times = [];
  const before = process.cpuUsage();
  const begin = performance.now();
  const isOver =
    "amount" in job
      ? () => times.length + Number(connections) > job.amount
      : () => performance.now() >= begin + job.seconds * 1000;
  /** @param {number} first */
  const loop = async (first) => {
    for (let index = first; !isOver(); index += 1) {
      const { path, headers } = /** @type {import("./messages.mjs").Request} */ (
        requests[index % requests.length]
      );
      const sent = performance.now();
      const { statusCode, body } = await request(origin + path, { headers, dispatcher });
      await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: Number(connections) }, (_, index) => loop(index)));
  const elapsed = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(before);
  return {
    ...latencies(times),
    rate: times.length / elapsed,
    seconds: elapsed,
    processor: user + system,
    served: times.length,
  };
}

answerParent("ready", send);
