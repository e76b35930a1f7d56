// Load from autocannon, in a process of its own: `load.mjs FOLDER`. For each job of its parent it loads a port, for
// some seconds or with a number of requests, and replies with latencies and the rate.
import autocannon from "autocannon";

import { readRequests } from "./messages.mjs";
import { answerParent, CONNECTIONS, latencies } from "./processes.mjs";

/** Milliseconds between autocannon’s checks whether it is done. */
const SAMPLE_INTERVAL = 100;

const requests = readRequests(process.argv[2] ?? "");

/** @param {import("./processes.mjs").Job} job */
async function load({ port, ...job }) {
  /** @type {number[]} */
  const times = [];
  const options = {
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    requests,
    sampleInt: SAMPLE_INTERVAL,
    ...("amount" in job ? job : { duration: job.seconds }),
  };
  const begin = performance.now();
  let end = begin;
  // autocannon’s own figures are rounded.
  const { errors, timeouts, non2xx } = await run(options, (time) => {
    end = performance.now();
    times.push(time);
  });
  const failed = errors + timeouts + non2xx;
  if (failed > 0) throw new Error(`${failed} requests failed`);
  // Until the last response: autocannon itself ends at its next check.
  return latencies(times, (end - begin) / 1000);
}

/**
 * @param {autocannon.Options} options
 * @param {(time: number) => void} onResponse gets milliseconds
 * @returns {Promise<autocannon.Result>}
 */
function run(options, onResponse) {
  return new Promise((resolve, reject) => {
    const instance = autocannon(options, (error, result) =>
      error ? reject(error) : resolve(result),
    );
    instance.on("response", (_client, _status, _bytes, time) => onResponse(time));
  });
}

answerParent("ready", load);
