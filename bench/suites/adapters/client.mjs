// A client of undici, in a process of its own: `client.mjs VARIANT FOLDER`. For each job of its parent it sends
// requests to a port, for some seconds or a number of them, and replies with latencies and its processor time.
import { hedgerow } from "hedgerow/undici";
import { Agent, request } from "undici";

import { readRequests, setupOf } from "./messages.mjs";
import { answerParent, CONNECTIONS, latencies, processorTime } from "./processes.mjs";
import { interceptorOf } from "./rivals.mjs";

/**
 * An interceptor that forwards everything: the minimum that every interceptor does.
 *
 * @type {import("undici").Dispatcher.DispatcherComposeInterceptor}
 */
const noOp = (dispatch) => (options, handler) => dispatch(options, new NoOpHandler(handler));

/** @typedef {import("undici").Dispatcher.DispatchHandler} Handler */

/** @implements {Handler} */
class NoOpHandler {
  #handler;

  /** @param {Handler} handler */
  constructor(handler) {
    this.#handler = handler;
  }

  /** @param {Parameters<NonNullable<Handler["onRequestStart"]>>} args */
  onRequestStart(...args) {
    this.#handler.onRequestStart?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onRequestUpgrade"]>>} args */
  onRequestUpgrade(...args) {
    this.#handler.onRequestUpgrade?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseStart"]>>} args */
  onResponseStart(...args) {
    this.#handler.onResponseStart?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseData"]>>} args */
  onResponseData(...args) {
    this.#handler.onResponseData?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseEnd"]>>} args */
  onResponseEnd(...args) {
    this.#handler.onResponseEnd?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseError"]>>} args */
  onResponseError(...args) {
    this.#handler.onResponseError?.(...args);
  }
}

const [, , variant = "", folder = ""] = process.argv;
const requests = readRequests(folder);
const setup = setupOf(variant, folder);
const agent = new Agent({ connections: CONNECTIONS });
const interceptor = interceptorFor(setup);
const dispatcher = interceptor ? agent.compose(interceptor) : agent;

/** @param {import("./messages.mjs").Setup} setup */
function interceptorFor(setup) {
  if (setup === "nothing") return noOp;
  return setup instanceof Set ? interceptorOf(setup, NoOpHandler) : setup && hedgerow(setup);
}

/** @param {import("./processes.mjs").Job} job */
async function send({ port, ...job }) {
  const origin = `http://127.0.0.1:${port}`;
  /** @type {number[]} */
  const times = [];
  const before = processorTime();
  const begin = performance.now();
  const isOver =
    "amount" in job
      ? () => times.length + CONNECTIONS > job.amount
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
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => loop(index)));
  const seconds = (performance.now() - begin) / 1000;
  return {
    ...latencies(times, seconds),
    processor: processorTime() - before,
    served: times.length,
  };
}

answerParent("ready", send);
