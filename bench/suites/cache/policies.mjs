// Other eviction policies. They track sizes only.
import { LRUCache } from "lru-cache";

/**
 * A cache. `get` adds the image if it is missing and returns whether it was a hit; `bytes` is the size of all images.
 *
 * @typedef {{ get(index: number): boolean, readonly bytes: number }} Policy
 */

/**
 * Rivals: LRU limited by bytes or by the number of images, and FIFO.
 *
 * @type {Record<string, (maxBytes: number, sizes: number[]) => Policy>}
 */
export const POLICIES = {
  "lru-cache, by bytes": (maxBytes, sizes) =>
    recent(new LRUCache({ maxSize: maxBytes, sizeCalculation: (size) => size }), sizes),
  "first in, first out": firstInFirstOut,
  "lru-cache, as many as fit on average": (maxBytes, sizes) => {
    const mean = sum(sizes) / sizes.length;
    return recent(new LRUCache({ max: Math.floor(maxBytes / mean) }), sizes);
  },
  "lru-cache, as many as fit at worst": (maxBytes, sizes) =>
    recent(new LRUCache({ max: Math.floor(maxBytes / Math.max(...sizes)) }), sizes),
};

/** @param {LRUCache<number, number>} cache @param {number[]} sizes */
function recent(cache, sizes) {
  return {
    get(/** @type {number} */ index) {
      if (cache.get(index) !== undefined) return true;
      cache.set(index, sizes[index] ?? 0);
      return false;
    },
    get bytes() {
      return sum([...cache.values()]);
    },
  };
}

/** Evicts the oldest image, limited by bytes. @param {number} maxBytes @param {number[]} sizes @returns {Policy} */
function firstInFirstOut(maxBytes, sizes) {
  // A set keeps the order of insertion.
  const images = /** @type {Set<number>} */ (new Set());
  let bytes = 0;
  return {
    get(index) {
      if (images.has(index)) return true;
      images.add(index);
      bytes += sizes[index] ?? 0;
      for (const oldest of images) {
        if (bytes <= maxBytes) break;
        images.delete(oldest);
        bytes -= sizes[oldest] ?? 0;
      }
      return false;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** @param {number[]} numbers */
export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
