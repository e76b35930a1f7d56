// Other caches, of the same images: none holds anything but what they take.
import { LRUCache } from "lru-cache";

/**
 * A cache that is asked for images. `get` returns whether one was there, and has it there; `bytes` is what
 * all of them take.
 *
 * @typedef {{ get(index: number): boolean, readonly bytes: number }} Policy
 */

/** Those that were not wanted for the longest time go, by bytes. @param {number} maxBytes @param {number[]} sizes @returns {Policy} */
export function recentByBytes(maxBytes, sizes) {
  return recent(new LRUCache({ maxSize: maxBytes, sizeCalculation: (size) => size }), sizes);
}

/** The same by their number: as many as fit if all have the mean size. @param {number} maxBytes @param {number[]} sizes @returns {Policy} */
export function recentByMeanCount(maxBytes, sizes) {
  const mean = sum(sizes) / sizes.length;
  return recent(new LRUCache({ max: Math.floor(maxBytes / mean) }), sizes);
}

/** As many as fit whatever their sizes are. @param {number} maxBytes @param {number[]} sizes @returns {Policy} */
export function recentBySafeCount(maxBytes, sizes) {
  return recent(new LRUCache({ max: Math.floor(maxBytes / Math.max(...sizes)) }), sizes);
}

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

/** Those that have been there for the longest time go, by bytes. @param {number} maxBytes @param {number[]} sizes @returns {Policy} */
export function firstInFirstOut(maxBytes, sizes) {
  // A set keeps the order in which they came.
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
