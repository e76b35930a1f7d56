// Opens a cache and runs commands on it, which it reads from standard input as lines of JSON until that ends. It writes
// lines of JSON: its activities, and the result of each command.
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";

import { ImageCache } from "@hedgerow/snapshot";

import { churn } from "./churn.mjs";
import { openLockFiles } from "./lock-files.mjs";

/** @typedef {import("./cache-job.ts").CacheOpening} CacheOpening */
/** @typedef {import("./cache-job.ts").Command} Command */
/** @typedef {import("./cache-job.ts").GetCommand} GetCommand */
/** @typedef {import("./cache-job.ts").GotAll} GotAll */
/** @typedef {import("./cache-job.ts").Line} Line */

const opening = /** @type {CacheOpening} */ (JSON.parse(process.argv[2] ?? ""));
const ending = new AbortController();

/** @param {Line} line */
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** @param {string} activity */
const report = (activity) => write({ activity });

async function open() {
  report("open");
  return ImageCache.open(opening.directory, opening.options);
}

/**
 * @param {ImageCache} cache
 * @param {GetCommand} command
 * @returns {Promise<GotAll>}
 */
async function getAll(cache, { source, options, times }) {
  const all = { ...options, onProgress: () => report("progress") };
  const getting = Promise.allSettled(Array.from({ length: times }, () => cache.get(source, all)));
  let isOver = false;
  void getting.then(() => {
    isOver = true;
  });
  // All calls share one load, which has a lock file open while it restores the image or waits for another process.
  while (!isOver && openLockFiles().length === 0) await setImmediate();
  report("waiting");
  /** @type {Map<string, string>} */
  const sums = new Map();
  /** @type {import("./cache-job.ts").GotImage[]} */
  const images = [];
  /** @type {import("./cache-job.ts").GotError[]} */
  const errors = [];
  for (const got of await getting) {
    if (got.status === "rejected") {
      const { code, message, status } = got.reason;
      errors.push({ code, message, status });
      continue;
    }
    const { hit, path, release } = got.value;
    const { dev, ino } = statSync(path, { bigint: true });
    const file = `${dev}:${ino}`;
    const sum = sums.get(file) ?? createHash("sha256").update(readFileSync(path)).digest("hex");
    sums.set(file, sum);
    images.push({ hit, path, file, sum });
    await release();
  }
  return { images, errors };
}

let cache = await open();
report("ready");

/** @param {Command} command */
async function act(command) {
  if (command.do === "get") return getAll(cache, command);
  const reopen = async () => {
    await cache.close();
    cache = await open();
    return cache;
  };
  return churn(cache, command, { reopen, report, signal: ending.signal });
}

const lines = createInterface({ input: process.stdin });
/** @type {Promise<unknown>} */
let last = Promise.resolve();
lines.on("line", (line) => {
  last = last.then(async () => write({ answer: await act(JSON.parse(line)) }));
});
lines.on("close", () => {
  ending.abort();
  last = last.then(() => cache.close());
});
