// A service that manages sandboxes in a separate process, which may run for long or be killed. It opens a cache if its
// options name a directory. Every call is a message, and so is its result.
import { createSnapshot, ImageCache, restoreSnapshot } from "@hedgerow/snapshot";

/** @typedef {import("./service.ts").Calls} Calls */
/** @typedef {import("./service.ts").ServiceOptions} ServiceOptions */

const options = /** @type {ServiceOptions} */ (JSON.parse(process.argv[2] ?? ""));
const { directory = "", ...cacheOptions } = options.cache ?? {};
const cache =
  options.cache === undefined
    ? undefined
    : await ImageCache.open(directory, /** @type {{ maxBytes: number }} */ (cacheOptions));

/**
 * The leased images, by the names that the caller gives them.
 *
 * @type {Map<string, import("@hedgerow/snapshot").CachedImage>}
 */
const leases = new Map();

function openedCache() {
  if (cache === undefined) throw new Error("the service has no cache");
  return cache;
}

/** @type {{ [Name in keyof Calls]: (...args: Parameters<Calls[Name]>) => Promise<ReturnType<Calls[Name]>> }} */
const calls = {
  async lease(name, source, options) {
    const image = await openedCache().get(source, options);
    leases.set(name, image);
    return { hit: image.hit, path: image.path };
  },

  async release(name) {
    await leases.get(name)?.release();
    leases.delete(name);
  },

  async restore(source, target, { isCached, ...options }) {
    const { hit } = await restoreSnapshot(source, target, {
      ...options,
      ...(isCached && { cache: openedCache() }),
    });
    return { hit: hit ?? false };
  },

  async create(image, destination, options) {
    const { digest, fileSize } = await createSnapshot(image, destination, options);
    return { digest, fileSize };
  },

  has: (source, digest) => openedCache().has(source, { digest }),
  remove: (source, digest) => openedCache().delete(source, { digest }),
  verify: () => openedCache().verify(),
  prune: (maxBytes) => openedCache().prune(maxBytes),
  stats: () => openedCache().stats(),

  async memory() {
    // Finalizers release memory that only a later collection frees.
    for (let run = 0; run < 3; run += 1) {
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
