// Replays traces and counts hits, in Hedgerow’s cache and under other eviction policies.
import { join } from "node:path";
import { LRUCache } from "lru-cache";

import { seededRandom } from "../../../tests/origin/random.mjs";
import { result } from "../../harness/results.mjs";
import { log } from "../../harness/turns.mjs";
import { SUITE } from "./caches.mjs";
import { bytesOnDisk, HedgerowPolicy } from "./hedgerow-policy.mjs";

/** @typedef {import("./suite.mjs").TracePlan} TracePlan */

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
const POLICIES = {
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

/** The numbers of the requested images. @typedef {{ name: string, requests: number[] }} Trace */

/** @param {string} folder in memory @param {TracePlan} plan */
export async function measureHitRates(folder, plan) {
  const sizes = sizesOf(plan);
  const onDisk = sizes.map(bytesOnDisk);
  const hitRate = { suite: `${SUITE}, hit rate`, unit: "%" };
  const excess = { suite: `${SUITE}, most bytes over the limit`, unit: "×" };
  const results = [];
  for (const trace of makeTraces(plan)) {
    log(`hit rates: ${trace.name}`);
    for (const share of plan.shares) {
      const maxBytes = Math.floor(share * sum(onDisk));
      const workload = `${trace.name}, ${100 * share} % of the bytes`;
      const rate = await hedgerowRate(join(folder, "trace"), maxBytes, sizes, trace);
      results.push(result({ ...hitRate, workload }, "hedgerow", [rate]));
      for (const [name, make] of Object.entries(POLICIES)) {
        const { hits, peak } = replay(make(maxBytes, onDisk), trace);
        results.push(
          result({ ...hitRate, workload }, name, [hits]),
          result({ ...excess, workload }, name, [peak / maxBytes]),
        );
      }
    }
  }
  return results;
}

/** @param {string} directory @param {number} maxBytes @param {number[]} sizes @param {Trace} trace */
async function hedgerowRate(directory, maxBytes, sizes, { requests }) {
  const policy = await HedgerowPolicy.open(directory, maxBytes, sizes);
  let hits = 0;
  for (const index of requests) if (await policy.get(index)) hits += 1;
  await policy.close();
  return (100 * hits) / requests.length;
}

/** @param {Policy} policy @param {Trace} trace */
function replay(policy, { requests }) {
  let [hits, peak] = [0, 0];
  for (const index of requests) {
    if (policy.get(index)) hits += 1;
    else peak = Math.max(peak, policy.bytes);
  }
  return { hits: (100 * hits) / requests.length, peak };
}

/** @param {TracePlan} plan @returns {Trace[]} */
function makeTraces(plan) {
  const zipf = plan.exponents.map((exponent) => ({
    name: `Zipf, exponent ${exponent}`,
    requests: requestsOf(plan, (index) => (index + 1) ** -exponent),
  }));
  const { images, share } = plan.base;
  const few = {
    name: `${images} base images, ${100 * share} % of requests`,
    requests: requestsOf(plan, (index) =>
      index < images ? share / images : (1 - share) / (plan.images - images),
    ),
  };
  return [...zipf, few];
}

/**
 * Returns the sizes of images, distributed evenly on a logarithmic scale and independent of popularity.
 *
 * @param {TracePlan} plan
 */
function sizesOf({ images, smallest, largest }) {
  const random = seededRandom(1);
  return Array.from({ length: images }, () => {
    return Math.round(smallest * (largest / smallest) ** random());
  });
}

/** @param {TracePlan} plan @param {(index: number) => number} weightOf */
function requestsOf({ images, requests }, weightOf) {
  const sums = /** @type {number[]} */ ([]);
  for (let index = 0; index < images; index += 1) {
    sums.push((sums.at(-1) ?? 0) + weightOf(index));
  }
  const [random, all] = [seededRandom(2), sums.at(-1) ?? 0];
  return Array.from({ length: requests }, () => {
    const at = random() * all;
    return sums.findIndex((sum) => at < sum);
  });
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
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
