// A service that keeps sandboxes, in a process of its own, which may live long or be killed. It has a cache of images
// open, if it is told of one, and does what it is asked: one message for each call, and one for its answer.
import { createSnapshot, ImageCache, restoreSnapshot } from "@hedgerow/snapshot";

/** @typedef {import("./service.ts").Calls} Calls */
/** @typedef {import("./service.ts").Opening} Opening */

const opening = /** @type {Opening} */ (JSON.parse(process.argv[2] ?? ""));
const cache = opening.cache && (await ImageCache.open(opening.cache.directory, opening.cache));

/** The images in use, by what the caller names them. @type {Map<string, import("@hedgerow/snapshot").CachedImage>} */
const leases = new Map();

function opened() {
  if (cache === undefined) throw new Error("expected a cache, found none");
  return cache;
}

/** @type {{ [Name in keyof Calls]: (...args: Parameters<Calls[Name]>) => Promise<ReturnType<Calls[Name]>> }} */
const calls = {
  async lease(name, source, options) {
    const image = await opened().get(source, options);
    leases.set(name, image);
    return { hit: image.hit, path: image.path };
  },

  async release(name) {
    await leases.get(name)?.release();
    leases.delete(name);
  },

  async restore(source, target, options) {
    const { hit } = await restoreSnapshot(source, target, {
      ...options,
      ...(options.isCached && { cache: opened() }),
    });
    return { hit: hit ?? false };
  },

  async create(image, destination, options) {
    const { digest, fileSize } = await createSnapshot(image, destination, options);
    return { digest, fileSize };
  },

  has: (source, digest) => opened().has(source, { digest }),
  remove: (source, digest) => opened().delete(source, { digest }),
  verify: () => opened().verify(),
  prune: (maxBytes) => opened().prune(maxBytes),
  stats: () => opened().stats(),

  async memory() {
    // What one collection lets go of, the next one frees.
    for (let turn = 0; turn < 3; turn += 1) {
      await new Promise(setImmediate);
      globalThis.gc?.();
    }
    const { heapUsed, external } = process.memoryUsage();
    return { heap: heapUsed + external, isCollected: globalThis.gc !== undefined };
  },

  async close() {
    await cache?.close();
    process.disconnect();
  },
};

process.on("message", async (/** @type {any} */ { id, name, args }) => {
  try {
    const call = /** @type {(...args: unknown[]) => Promise<unknown>} */ (
      calls[/** @type {keyof Calls} */ (name)]
    );
    const value = await call(...args);
    if (process.connected) process.send?.({ id, value });
  } catch (error) {
    const { message, code } = /** @type {any} */ (error);
    process.send?.({ id, error: { message, code } });
  }
});
process.send?.({ id: 0 });
