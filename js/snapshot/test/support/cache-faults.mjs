// Uses a cache in a process of its own, while something is wrong with its disk, or with what the process may do,
// and prints what it finds as JSON. The process ends by itself.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ImageCache } from "@hedgerow/snapshot";

// Other users may not be able to read modules: they are here before one becomes another user.
await import("koffi");

/** @typedef {import("./cache-harm.ts").Harm} Harm */
/** @typedef {import("./cache-harm.ts").Refusal} Refusal */

const harm = /** @type {Harm} */ (JSON.parse(process.argv[2] ?? ""));
const { directory } = harm;
const OPTIONS = { maxBytes: 2 ** 30 };

/** What a promise is rejected with, or null. @param {Promise<unknown>} promise @returns {Promise<Refusal | null>} */
async function refusal(promise) {
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

/** Has the disk of the cache have room for no more than so many bytes. @param {number} left */
function fillDisk(left) {
  const { bavail, bsize } = statfsSync(directory);
  try {
    writeFileSync(join(directory, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - left), 1));
  } catch (error) {
    // What is restored meanwhile may have taken the room that was to be left, and more: the disk is full.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOSPC") throw error;
  }
}

/** What is there when an image could not be restored. @param {ImageCache} cache @param {Harm} harm */
async function afterFailure(cache, { small, large }) {
  const { bytes, entries } = await cache.stats();
  const filling = readdirSync(join(directory, "filling"));
  const image = await cache.get(small.snapshot, { digest: small.digest });
  const isServed = image.hit && isSame(image.path, small.image);
  await image.release();
  rmSync(join(directory, "filler"));
  const again = await cache.get(large.snapshot);
  const isRestored = !again.hit && isSame(again.path, large.image);
  const isNoNote = (/** @type {string} */ name) => !name.endsWith(".failed");
  const files = readdirSync(join(directory, "filling")).filter(isNoNote);
  await cache.close();
  return { bytes, entries, filling, isServed, isRestored, files };
}

/** @type {Record<Harm["kind"], () => Promise<unknown>>} */
const kinds = {
  async "disk is full"() {
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(harm.small.snapshot)).release();
    fillDisk(2 ** 20);
    const error = await refusal(cache.get(harm.large.snapshot));
    return { error, ...(await afterFailure(cache, harm)) };
  },

  async "disk fills up"() {
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(harm.small.snapshot)).release();
    let isFull = false;
    const onProgress = () => {
      if (!isFull) fillDisk(2 ** 16);
      isFull = true;
    };
    const error = await refusal(cache.get(harm.source, { connections: 1, onProgress }));
    return { error, ...(await afterFailure(cache, harm)) };
  },

  async "disk has less room"() {
    const { small, large, another, source } = harm;
    const cache = await ImageCache.open(directory, OPTIONS);
    await (await cache.get(large.snapshot)).release();
    const held = await cache.get(small.snapshot);
    let isFull = false;
    // A file is restored before it is told of the first time: of these, the disk is too small.
    const onProgress = () => {
      if (!isFull && source !== another.snapshot) fillDisk(2 ** 16);
      isFull = true;
    };
    const image = await cache.get(source, { connections: 1, onProgress });
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
    const { small, large } = harm;
    const cache = await ImageCache.open(directory, OPTIONS);
    const held = await cache.get(small.snapshot);
    // What is open stays as it was: the system has no other way while files are open for writing.
    execFileSync("mount", ["--bind", directory, directory]);
    execFileSync("mount", ["-o", "remount,bind,ro", directory]);
    const image = await cache.get(small.snapshot, { digest: small.digest });
    const isServed = image.hit && isSame(image.path, small.image);
    const fill = await refusal(cache.get(large.snapshot));
    const remove = await refusal(cache.delete(small.snapshot));
    const verified = await cache.verify();
    const { entries } = await cache.stats();
    await image.release();
    await held.release();
    const open = await refusal(ImageCache.open(directory, OPTIONS));
    await cache.close();
    return { isServed, fill, remove, verified, entries, open, isThere: existsSync(image.path) };
  },

  async "another user"() {
    process.setgid?.(65534);
    process.setuid?.(65534);
    return { error: await refusal(ImageCache.open(directory, OPTIONS)) };
  },

  async "image may not be read"() {
    process.setgid?.(65534);
    process.setuid?.(65534);
    const cache = await ImageCache.open(directory, OPTIONS);
    const { digest } = harm.small;
    const copyTo = `${directory}-copy`;
    const error = await refusal(cache.get("no such file", { digest, copyTo }));
    const { leases } = await cache.stats();
    await cache.close();
    return { error, leases };
  },

  async "is left open"() {
    const cache = await ImageCache.open(directory, { ...OPTIONS, verifyBytesPerSecond: 1 });
    await cache.get(harm.small.snapshot);
    return {};
  },
};

process.stdout.write(JSON.stringify(await kinds[harm.kind]()));
