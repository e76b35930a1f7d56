// Runs a call in a thread of its own. Its event loop is blocked when the server has received a request.
import { parentPort, workerData } from "node:worker_threads";

import * as snapshots from "@hedgerow/snapshot";

/** @type {import("./blocked-call.ts").BlockedCall} */
const { call, source, target, options, statistics, milliseconds } = workerData;

/** Returns how many requests the server has received. */
async function requestCount() {
  const response = await fetch(statistics);
  return (await response.json()).requestCount;
}

const working =
  call === "createSnapshot"
    ? snapshots.createSnapshot(source, /** @type {string} */ (target), options)
    : snapshots.inspectSnapshot(source, options);
while ((await requestCount()) === 0);
// Without using the processor.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
parentPort?.postMessage(await working);
