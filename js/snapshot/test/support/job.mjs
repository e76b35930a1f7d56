// Runs a job and prints its outcome as JSON. It does not call `process.exit`: a leaked worker would keep the process
// running.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

import * as snapshots from "@hedgerow/snapshot";

/** @typedef {import("./job.ts").Job} Job */
/** @typedef {import("./job.ts").Outcome} Outcome */

const job = /** @type {Job} */ (JSON.parse(process.argv[2] ?? ""));

/** @type {import("node:worker_threads").Worker[]} */
const workers = [];
process.on("worker", (worker) => workers.push(worker));

const reason = new Error("the caller's own");
const controller = new AbortController();
if (job.abort === "before") controller.abort(reason);

let progressCalls = 0;
/** @type {{ time: number, share: number } | undefined} */
let first;

/** @param {import("@hedgerow/snapshot").Progress} progress */
function onProgress({ bytes, totalBytes }) {
  progressCalls += 1;
  if (progressCalls !== 1) return;
  first = { time: performance.now(), share: bytes / totalBytes };
  if (job.abort === "progress") controller.abort(reason);
  if (job.abort === "throw") throw reason;
}

function act() {
  const options = { ...job.options, signal: controller.signal, onProgress };
  const { call, source, target } = job;
  switch (call) {
    case "createSnapshot":
      return snapshots.createSnapshot(source, target, options);
    case "restoreSnapshot":
      return snapshots.restoreSnapshot(source, target, options);
    case "verifySnapshot":
      return snapshots.verifySnapshot(source, options);
    case "openCache":
      return snapshots.ImageCache.open(target, { maxBytes: 2 ** 24 });
    case "nothing":
      return undefined;
  }
}

/** @param {unknown} error @returns {Outcome["error"]} */
function describe(error) {
  if (error === undefined) return null;
  const { name, message, code, cause, status } = /** @type {any} */ (error);
  return { name, message, code, causeCode: cause?.code, status, isReason: error === reason };
}

/** @param {string} path */
function digestOf(path) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
  if (size > 2 ** 26) return undefined;
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Returns the peak memory. Unlike `maxRSS`, `VmHWM` does not include that of the parent at the time of the fork. */
function peakMemory() {
  const [, kibibytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** @type {unknown} */
let error;
process.stdout.write("begin\n");
const begin = performance.now();
try {
  await act();
} catch (thrown) {
  error = thrown;
}
const end = performance.now();
const running = workers.filter((worker) => worker.threadId !== -1).length;
/** @type {Outcome} */
const outcome = {
  error: describe(error),
  progressCalls,
  duration: end - begin,
  share: first?.share,
  delay: first && end - first.time,
  started: workers.length,
  running,
  peakMemory: peakMemory(),
  // A URL has no folder.
  names: URL.canParse(job.target) ? [] : readdirSync(dirname(job.target)),
  target: digestOf(job.target),
};
process.stdout.write(JSON.stringify(outcome));
