// Times hits by the size of the image, and private copies of cached images beside `cp`.
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LOOPBACK, startServer } from "../../harness/server.mjs";
import { log, runOnce, takeTurns, timeOf } from "../../harness/turns.mjs";
import { times } from "./caches.mjs";

/** @typedef {import("./caches.mjs").Sample} Sample */
/** @typedef {import("../../../js/snapshot/dist/index.js").ImageCache} ImageCache */

/** @param {ImageCache} cache @param {Sample[]} samples @param {import("./suite.mjs").Plan} plan */
export async function measureHits(cache, samples, plan) {
  const server = await startServer(LOOPBACK, { files: samples.map(({ snapshot }) => snapshot) });
  try {
    const results = [];
    for (const sample of samples) {
      log(`hits of ${sample.name}`);
      results.push(...(await measureOne(cache, sample, server.url(sample.snapshot), plan)));
    }
    return results;
  } finally {
    await server.stop();
  }
}

/** @param {ImageCache} cache @param {Sample} sample @param {string} url @param {import("./suite.mjs").Plan} plan */
async function measureOne(cache, sample, url, { hits, processes, hashed }) {
  const { name, digest, imageSize, dataBytes } = sample;
  const { path, release } = await cache.get(url);
  await release();
  const repeated = await takeTurns(
    [
      { name: "hedgerow", time: () => timeOf(() => getAndRelease(cache, url, digest)) },
      { name: "without digest", time: () => timeOf(() => getAndRelease(cache, url)) },
      { name: "open of a file, then close", time: () => timeOf(() => openAndClose(path)) },
      { name: "HEAD of the object", time: () => timeOf(() => headOf(url)) },
    ],
    hits,
  );
  const hashing = { name: "SHA-256 of the file", time: () => timeOfHash(path, imageSize, hashed) };
  const ofHash = await takeTurns([hashing], 1, { warmUps: 0 });
  const { directory } = cache;
  const openings = /** @type {number[]} */ ([]);
  const first = {
    name: "first of a process",
    time: () => {
      const { open: opening, get } = firstHit(directory, url, digest);
      openings.push(opening + get);
      return get;
    },
  };
  const withoutDigest = {
    name: "first of a process, without digest",
    time: () => firstHit(directory, url).get,
  };
  const firsts = await takeTurns([first, withoutDigest], processes);
  // The first opening was the warm-up.
  const withOpening = { name: "first of a process, and opening", samples: openings.slice(1) };
  return times("hits", name, [...repeated, ...ofHash, ...firsts, withOpening], { dataBytes });
}

const FIRST_HIT = fileURLToPath(new URL("first-hit.mjs", import.meta.url));

/**
 * Runs the first hit of a process.
 *
 * @param {string} directory
 * @param {string} source
 * @param {string[]} digest none to ask the server
 * @returns {{ open: number, get: number }} in milliseconds
 */
function firstHit(directory, source, ...digest) {
  return JSON.parse(runOnce(process.execPath, FIRST_HIT, directory, source, ...digest));
}

/** @param {ImageCache} cache @param {string} url @param {string} [digest] */
async function getAndRelease(cache, url, digest) {
  const { hit, release } = await cache.get(url, { digest });
  if (!hit) throw new Error("expected a hit, found a miss");
  await release();
}

/** Asks a server whether a file has changed. @param {string} url */
async function headOf(url) {
  const { ok, status } = await fetch(url, { method: "HEAD" });
  if (!ok) throw new Error(`HEAD ${url} failed (HTTP ${status})`);
}

/** Bytes that are hashed at a time. */
const CHUNK = 2 ** 20;

/**
 * Returns the time of hashing a file, which verifies it without a cache. Beyond `max` bytes, the time is extrapolated.
 *
 * @param {string} path
 * @param {number} size
 * @param {number} max
 */
async function timeOfHash(path, size, max) {
  const end = Math.min(size, max);
  const elapsed = await timeOf(() => hashUpTo(path, end));
  return (elapsed * size) / end;
}

/** @param {string} path @param {number} end */
function hashUpTo(path, end) {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK);
  const file = openSync(path, "r");
  for (let position = 0; position < end; position += CHUNK) {
    hash.update(chunk.subarray(0, readSync(file, chunk)));
  }
  closeSync(file);
  return hash.digest();
}

/** The floor of using a file. @param {string} path */
async function openAndClose(path) {
  const file = await open(path);
  await file.close();
}

/**
 * Copies images to a folder on the same disk. Before each copy, the previous one is removed and the disk is synced, so
 * that no method pays for the writes of another.
 *
 * @param {string} what
 * @param {ImageCache} cache
 * @param {Sample[]} samples
 * @param {{ flags: string[], rounds: number }} options flags of `cp`, each for a method
 */
export async function measureCopies(what, cache, samples, { flags, rounds }) {
  const target = join(dirname(cache.directory), "copy.img");
  const results = [];
  for (const { name, snapshot, digest, dataBytes } of samples) {
    log(`${what} of ${name}`);
    const { path, release } = await cache.get(snapshot, { digest });
    const copy = () => cache.get(snapshot, { digest, copyTo: target });
    const methods = [
      { name: "hedgerow", time: () => timeOfCopy(target, copy) },
      ...flags.map((flag) => ({
        name: `cp ${flag}`,
        time: () => timeOfCopy(target, () => runOnce("cp", flag, path, target)),
      })),
    ];
    try {
      results.push(...times(what, name, await takeTurns(methods, rounds), { dataBytes }));
    } finally {
      await release();
      rmSync(target, { force: true });
    }
  }
  return results;
}

/** @param {string} target @param {() => unknown} copy */
function timeOfCopy(target, copy) {
  rmSync(target, { force: true });
  runOnce("sync");
  return timeOf(copy);
}
