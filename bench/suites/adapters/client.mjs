// A client of undici, in a process of its own: `client.mjs VARIANT FOLDER CONNECTIONS`. For each job of its parent it sends
// requests to a port, for some seconds or a number of them, and replies with latencies and its processor time.
import { hedgerow } from "hedgerow/undici";
import { Agent, request } from "undici";

import { latencies } from "./latencies.mjs";
import { readRequests, setupOf } from "./messages.mjs";
import { noOp } from "./no-op-interceptor.mjs";
import { answerParent } from "./processes.mjs";

const [, , variant = "", folder = "", connections = ""] = process.argv;
const requests = readRequests(folder);
const setup = setupOf(/** @type {import("./plan.mjs").Variant} */ (variant), folder);
const agent = new Agent({ connections: Number(connections) });
const interceptor = setup === "nothing" ? noOp : setup && hedgerow(setup);
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
