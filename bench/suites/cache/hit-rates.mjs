// Replays traces and counts hits, in Hedgerow’s cache and under other eviction policies.
import { join } from "node:path";

import { log } from "../../harness/progress.mjs";
import { bytesOnDisk, HedgerowPolicy } from "./hedgerow-policy.mjs";
import {
  firstInFirstOut,
  recentByBytes,
  recentByMeanCount,
  recentBySafeCount,
  sum,
} from "./policies.mjs";
import { result } from "./results.mjs";
import { makeTraces, sizesOf } from "./traces.mjs";

const OTHERS = {
  "lru-cache, by bytes": recentByBytes,
  "first in, first out": firstInFirstOut,
  "lru-cache, as many as fit on average": recentByMeanCount,
  "lru-cache, as many as fit at worst": recentBySafeCount,
};

/**
 * @param {string} folder in memory
 * @param {import("./plan.mjs").TracePlan} plan
 */
export async function measureHitRates(folder, plan) {
  const sizes = sizesOf(plan);
  const onDisk = sizes.map(bytesOnDisk);
  const results = [];
  for (const trace of makeTraces(plan)) {
    log(`hit rates: ${trace.name}`);
    for (const share of plan.shares) {
      const maxBytes = Math.floor(share * sum(onDisk));
      const workload = `${trace.name}, ${100 * share} % of the bytes`;
      const rate = await hedgerowRate(join(folder, "trace"), maxBytes, sizes, trace);
      results.push(result("hit rate", workload, "hedgerow", "%", [rate]));
      for (const [name, make] of Object.entries(OTHERS)) {
        const { hits, peak } = replay(make(maxBytes, onDisk), trace);
        results.push(
          result("hit rate", workload, name, "%", [hits]),
          result("most bytes over the limit", workload, name, "×", [peak / maxBytes]),
        );
      }
    }
  }
  return results;
}

/**
 * @param {string} directory
 * @param {number} maxBytes
 * @param {number[]} sizes
 * @param {import("./traces.mjs").Trace} trace
 */
async function hedgerowRate(directory, maxBytes, sizes, { requests }) {
  const policy = await HedgerowPolicy.open(directory, maxBytes, sizes);
  let hits = 0;
  for (const index of requests) if (await policy.get(index)) hits += 1;
  await policy.close();
  return (100 * hits) / requests.length;
}

/** @param {import("./policies.mjs").Policy} policy @param {import("./traces.mjs").Trace} trace */
function replay(policy, { requests }) {
  let [hits, peak] = [0, 0];
  for (const index of requests) {
    if (policy.get(index)) hits += 1;
    else peak = Math.max(peak, policy.bytes);
  }
  return { hits: (100 * hits) / requests.length, peak };
}
