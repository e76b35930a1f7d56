// Uses a cache with a faulty disk or limited permissions, and prints what it finds as JSON. The process ends by itself.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { ImageCache } from "@hedgerow/snapshot";

// Load modules before changing the user, who may not be able to read them.
await import("koffi");

/** @typedef {import("./cache-faults.ts").FaultScenario} FaultScenario */
/** @typedef {import("./cache-faults.ts").ThrownError} ThrownError */

const scenario = /** @type {FaultScenario} */ (JSON.parse(process.argv[2] ?? ""));
const { directory } = scenario;
const OPTIONS = { maxBytes: 2 ** 30 };

/** One worker, which starts faster than more. */
const ONE = { workers: 1 };

/**
 * Returns the rejection of a promise, or null.
 *
 * @param {Promise<unknown>} promise
 * @returns {Promise<ThrownError | null>}
 */
async function errorOf(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    const { name, code, message, cause } = /** @type {any} */ (error);
    return { name, code, message, causeCode: cause?.code };
  }
}

/** Whether two files are the same. @param {string} one @param {string} other */
const isSame = (one, other) => readFileSync(one).equals(readFileSync(other));

/** Fills the disk of the cache up to a number of bytes. @param {number} left */
function fillDisk(left) {
  const { bavail, bsize } = statfsSync(directory);
  try {
    writeFileSync(join(directory, "padding"), Buffer.alloc(Math.max(0, bavail * bsize - left), 1));
  } catch (error) {
    // The restore may have taken the remaining space meanwhile: the disk is full.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOSPC") throw error;
  }
}

/** Makes the file system of the cache read-only. */
function makeReadOnly() {
  // A bind mount, because a file system with files open for writing cannot be remounted read-only.
  execFileSync("mount", ["--bind", directory, directory]);
  execFileSync("mount", ["-o", "remount,bind,ro", directory]);
}

/** Returns the state of a cache after a failed restore. @param {ImageCache} cache @param {FaultScenario} scenario */
async function afterFailure(cache, { small, large }) {
  const { bytes, entries } = await cache.stats();
  const filling = readdirSync(join(directory, "filling"));
  const image = await cache.get(small.snapshot, { digest: small.digest });
  const isServed = image.hit && isSame(image.path, small.image);
  await image.release();
  rmSync(join(directory, "padding"));
  const again = await cache.get(large.snapshot, ONE);
  const isRestored = !again.hit && isSame(again.path, large.image);
  const files = readdirSync(join(directory, "filling"));
  await cache.close();
  return { bytes, entries, filling, isServed, isRestored, files };
}

/** @type {Record<FaultScenario["kind"], () => Promise<unknown>>} */
const kinds = {
  async "disk is full"() {
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(scenario.small.snapshot, ONE)).release();
    fillDisk(2 ** 20);
    const error = await errorOf(cache.get(scenario.large.snapshot, ONE));
    return { error, ...(await afterFailure(cache, scenario)) };
  },

  async "disk fills up"() {
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(scenario.small.snapshot, ONE)).release();
    let isFull = false;
    const onProgress = () => {
      if (!isFull) fillDisk(2 ** 16);
      isFull = true;
    };
    const error = await errorOf(cache.get(scenario.source, { ...ONE, connections: 1, onProgress }));
    return { error, ...(await afterFailure(cache, scenario)) };
  },

  async "disk has less room"() {
    const { small, large, another, source } = scenario;
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(large.snapshot, ONE)).release();
    const held = await cache.get(small.snapshot, ONE);
    let isFull = false;
    // A file is restored before its first progress event; there, the disk itself is too small.
    const onProgress = () => {
      if (!isFull && source !== another.snapshot) fillDisk(2 ** 16);
      isFull = true;
    };
    const image = await cache.get(source, { ...ONE, connections: 1, onProgress });
    const isRestored = !image.hit && isSame(image.path, another.image);
    const isHeld = isSame(held.path, small.image);
    const { evictions, fills, failures } = await cache.stats();
    const left = (await cache.entries()).map(({ digest }) => digest);
    await image.release();
    await held.release();
    const files = readdirSync(join(directory, "filling"));
    await cache.close();
    return { isRestored, isHeld, evictions, fills, failures, left, files };
  },

  async "disk may not be written"() {
    const { small, large, another } = scenario;
    const cache = await ImageCache.open(directory, OPTIONS);
    const held = await cache.get(small.snapshot, ONE);
    const damaged = await cache.get(another.snapshot, ONE);
    chmodSync(damaged.path, 0o600);
    writeFileSync(damaged.path, "damage", { flag: "r+" });
    await damaged.release();
    makeReadOnly();
    const image = await cache.get(small.snapshot, { digest: small.digest });
    const isServed = image.hit && isSame(image.path, small.image);
    const fill = await errorOf(cache.get(large.snapshot, ONE));
    const remove = await errorOf(cache.delete(small.snapshot));
    const verified = await cache.verify();
    const { entries } = await cache.stats();
    await image.release();
    await held.release();
    await cache.close();
    return { isServed, fill, remove, verified, entries, isThere: existsSync(image.path) };
  },

  async "disk is read-only"() {
    const { small, large, another, source } = scenario;
    const filled = await ImageCache.open(directory, OPTIONS);
    await (await filled.get(small.snapshot, ONE)).release();
    await (await filled.get(another.snapshot, ONE)).release();
    await filled.close();
    const damaged = join(directory, "images", `${another.digest}.img`);
    chmodSync(damaged, 0o600);
    truncateSync(damaged, 1);
    // Images that were in use kept the cache above this limit.
    writeFileSync(join(directory, "excess"), String(2 ** 20), { mode: 0o600 });
    makeReadOnly();
    const cache = await ImageCache.open(directory, { maxBytes: 2 ** 20, verifyBytesPerSecond: 1 });
    const [copyTo, { digest }] = [`${directory}-copy`, small];
    const served = [];
    // Which snapshot the server has cannot be remembered.
    const gets = [
      cache.get("no such file", { digest }),
      cache.get("no such file", { digest, copyTo }),
      cache.get(source),
    ];
    for (const image of await Promise.all(gets)) {
      served.push(image.hit && isSame(image.path, small.image));
      await image.release();
    }
    const errors = [];
    for (const { snapshot } of [large, another]) errors.push(await errorOf(cache.get(snapshot)));
    const { entries } = await cache.stats();
    await cache.close();
    rmSync(copyTo);
    return { served, errors, entries };
  },

  async "another user"() {
    process.setgid?.(65534);
    process.setuid?.(65534);
    return { error: await errorOf(ImageCache.open(directory, OPTIONS)) };
  },

  async "image may not be read"() {
    process.setgid?.(65534);
    process.setuid?.(65534);
    const cache = await ImageCache.open(directory, OPTIONS);
    const { digest } = scenario.small;
    const copyTo = `${directory}-copy`;
    const error = await errorOf(cache.get("no such file", { digest, copyTo }));
    const { leases } = await cache.stats();
    await cache.close();
    return { error, leases };
  },

  async "is left open"() {
    const cache = await ImageCache.open(directory, { ...OPTIONS, verifyBytesPerSecond: 1 });
    await cache.get(scenario.small.snapshot);
    return {};
  },
};

process.stdout.write(JSON.stringify(await kinds[scenario.kind]()));
