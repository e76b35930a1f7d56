/** The results of simulations: reproducible, consistent, and as the fleet is meant to behave. */
import { describe, expect, test } from "vitest";

import { trials } from "../../../../tests/support/trials.js";
import { checkedOptions } from "../../src/simulation/options.js";
import { Simulation } from "../../src/simulation/simulation.js";
import { makeWorkload, POLICIES, simulate, WORKLOADS } from "../../src/simulation.js";

const STARTS = trials({ few: 2_000, all: 4_000 });

describe.for(WORKLOADS)("the workload %s", (name) => {
  const workload = makeWorkload(name, { hosts: 16, starts: STARTS, seed: 5 });

  test.for(POLICIES)("gives the same result for the same seed, under %s", (policy) => {
    const result = simulate(workload, policy, { seed: 7 });
    expect(simulate(workload, policy, { seed: 7 })).toEqual(result);
    const again = makeWorkload(name, { hosts: 16, starts: STARTS, seed: 5 });
    expect(simulate(again, policy, { seed: 7 })).toEqual(result);
  });

  test.for(POLICIES)("starts and stops every sandbox once, under %s", (policy) => {
    const run = new Simulation(workload, policy, checkedOptions({}, workload.cacheBytes));
    const { starts, hits, misses, startTimes, originFetches, hitRate } = run.run();
    expect(starts).toBe(workload.starts.length);
    expect(hits + misses).toBe(starts);
    expect(hitRate).toBe(hits / starts);
    expect(new Set(run.loads)).toEqual(new Set([0]));
    expect(originFetches).toBeGreaterThanOrEqual(new Set(workload.starts).size);
    expect(originFetches).toBeLessThanOrEqual(misses);
    expect(startTimes.median).toBeGreaterThan(0);
    expect(startTimes.worst).toBeGreaterThanOrEqual(startTimes.median);
  });

  test("differs for another seed", () => {
    const other = makeWorkload(name, { hosts: 16, starts: STARTS, seed: 6 });
    expect(simulate(other, "hedgerow")).not.toEqual(simulate(workload, "hedgerow"));
  });
});

describe("64 hosts whose caches hold a fifth of the images, Zipf 0.9", () => {
  const starts = trials({ few: 40_000, all: 60_000 });
  const workload = makeWorkload("zipf-0.9", { hosts: 64, starts });
  const results = new Map(POLICIES.map((policy) => [policy, simulate(workload, policy)]));
  const hedgerow = results.get("hedgerow")!;

  test("hedgerow hits 95 % within a load of 1.25 × the mean, and random placement at most 70 %", () => {
    expect(hedgerow.hitRate).toBeGreaterThanOrEqual(0.95);
    expect(hedgerow.runningBalance).toBeLessThanOrEqual(1.25);
    expect(results.get("random")!.hitRate).toBeLessThanOrEqual(0.7);
  });

  test("no policy with the balance of hedgerow hits more", () => {
    for (const { policy, hitRate, runningBalance } of results.values()) {
      if (policy === "hedgerow" || runningBalance > 1.5) continue;
      expect(hitRate, policy).toBeLessThan(hedgerow.hitRate);
    }
  });

  test("a host that leaves moves at most its share and two percent of the placements", () => {
    expect(hedgerow.moved).toBeLessThanOrEqual(1 / 64 + 0.02);
  });
});

test.for([1, 2, 3])("a flash crowd fetches its image three times at most, seed %s", (seed) => {
  const starts = trials({ few: 20_000, all: 60_000 });
  const workload = makeWorkload("flash-crowd", { hosts: 64, starts, seed });
  const { flash } = simulate(workload, "hedgerow");
  expect(flash?.starts).toBe(1_000);
  expect(flash?.originFetches).toBeLessThanOrEqual(3);
  expect(flash?.startTimes.worst).toBeLessThanOrEqual(1.5);
  const unlimited = simulate(workload, "hedgerow", { fillSlots: 64 });
  expect(unlimited.flash?.originFetches).toBeGreaterThan(30);
});

test("nothing starts on a host before it joins or after it leaves", () => {
  const { starts, ...rest } = makeWorkload("zipf-0.9", { hosts: 3, starts: 1_000 });
  const times = rest.times.map((_, start) => start);
  const hosts = [
    { id: "leaves", joins: 0, leaves: 500 },
    { id: "joins", joins: 500, leaves: Infinity },
  ];
  for (const policy of POLICIES) {
    // One host at a time takes all starts, so that nothing moves and the load is even.
    const workload = { ...rest, starts, times, hosts };
    const { runningBalance, moved } = simulate(workload, policy);
    expect(runningBalance, policy).toBe(1);
    expect(moved, policy).toBe(0);
  }
});

test("knows residency later with a longer delay, which costs hits", () => {
  const workload = makeWorkload("zipf-0.9", { hosts: 16, starts: 20_000 });
  const { hitRate } = simulate(workload, "hedgerow", { residencyDelay: 0 });
  const late = simulate(workload, "hedgerow", { residencyDelay: 1e9 });
  expect(late.hitRate).toBeLessThan(hitRate);
});
