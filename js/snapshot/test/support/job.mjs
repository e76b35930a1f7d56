// Runs the job of its argument and prints the outcome as JSON; without an argument, runs one job for each line of
// standard input. It does not call `process.exit`: a leaked worker would keep the process running.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";

import * as snapshots from "@hedgerow/snapshot";

/** @typedef {import("./job.ts").Job} Job */
/** @typedef {import("./job.ts").Outcome} Outcome */

/** The workers that the job has used, and whether they wait for another one. @type {Map<Worker, boolean>} */
const workers = new Map();
const { ref, unref } = Worker.prototype;
Worker.prototype.ref = function () {
  workers.set(this, false);
  ref.call(this);
};
Worker.prototype.unref = function () {
  workers.set(this, true);
  unref.call(this);
};

/** @param {unknown} error @param {unknown} reason @returns {Outcome["error"]} */
function describe(error, reason) {
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

/** @param {Job} job @returns {Promise<Outcome>} */
async function perform(job) {
  workers.clear();
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
      case "flattenSnapshot":
        return snapshots.flattenSnapshot(source, target, options);
      case "restoreSnapshot":
        return snapshots.restoreSnapshot(source, target, options);
      case "verifySnapshot":
        return snapshots.verifySnapshot(source, options);
      case "openCache":
        return snapshots.ImageCache.open(target, { maxBytes: 2 ** 24 });
      case "openSnapshot":
        return useDisk(source, { workers: job.options?.workers, image: target });
      case "nothing":
        return undefined;
    }
  }

  /** @type {unknown} */
  let error;
  const begin = performance.now();
  try {
    await act();
  } catch (thrown) {
    error = thrown;
  }
  const end = performance.now();
  const running = [...workers].filter(([{ threadId }, waits]) => threadId !== -1 && !waits).length;
  return {
    error: describe(error, reason),
    progressCalls,
    duration: end - begin,
    share: first?.share,
    delay: first && end - first.time,
    used: workers.size,
    running,
    peakMemory: peakMemory(),
    // A URL has no folder.
    names: URL.canParse(job.target) ? [] : readdirSync(dirname(job.target)),
    target: digestOf(job.target),
  };
}

/**
 * Fills a disk, writes to it, saves it, and opens it again.
 *
 * @param {string} source
 * @param {import("@hedgerow/snapshot").OpenOptions} options
 */
async function useDisk(source, options) {
  const disk = await snapshots.openSnapshot(source, options);
  await disk.filled;
  await disk.write(disk.size - 4096, Buffer.alloc(4096, 1));
  await disk.save(`${options.image}.vhs`, { overwrite: true });
  await disk.close();
  const again = await snapshots.openSnapshot(source, options);
  await again.close();
}

/** Replaces the environment variables. @param {NodeJS.ProcessEnv} env */
function setVariables(env) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

const [, , only] = process.argv;
if (only !== undefined) {
  const job = JSON.parse(only);
  process.stdout.write("begin\n");
  process.stdout.write(JSON.stringify(await perform(job)));
} else {
  const inherited = { ...process.env };
  for await (const line of createInterface({ input: process.stdin })) {
    const { job, env } = JSON.parse(line);
    setVariables({ ...inherited, ...env });
    process.stdout.write(`${JSON.stringify(await perform(job))}\n`);
  }
}
