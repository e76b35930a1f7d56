/** The figures of simulated fleets: their arithmetic, and the findings that the documents report. */
import { describe, expect, test } from "vitest";

import { EventQueue } from "../../bench/suites/fleet/simulator/event-queue.ts";
import { HostCache } from "../../bench/suites/fleet/simulator/host-cache.ts";
import { POLICIES, type PolicyName } from "../../bench/suites/fleet/simulator/policies.ts";
import { simulate } from "../../bench/suites/fleet/simulator/simulation.ts";
import { WORKLOADS, type Workload } from "../../bench/suites/fleet/simulator/workloads.ts";

const NAMES = Object.keys(POLICIES) as PolicyName[];

const MIB = 2 ** 20;

/** Makes starts of images of 200 MB, which the origin sends in a second. */
function workloadOf(hosts: number, starts: [time: number, image: number][]): Workload {
  return {
    hosts: Array.from({ length: hosts }, (_, row) => {
      return { id: `host-${row}`, joins: 0, leaves: Infinity };
    }),
    images: ["a", "b"].map((identity) => ({ identity, bytes: 200e6 })),
    cacheBytes: 400e6,
    starts: starts.map(([time, image]) => ({ time, image, duration: 60_000 })),
    flash: 0,
  };
}

test("events happen in the order of their times, and of their arrival", () => {
  const queue = new EventQueue();
  const times = Array.from({ length: 200 }, (_, index) => (index * 37) % 20);
  const happened: number[] = [];
  for (const [index, time] of times.entries()) queue.add(time, () => happened.push(index));
  while (queue.time < Infinity) queue.next();
  const order = [...times.keys()].sort((one, other) => times[one]! - times[other]!);
  expect(happened).toEqual(order);
});

test("a cache evicts the least recently used image, but none in use", () => {
  const evicted: number[] = [];
  const cache = new HostCache(3, (image) => evicted.push(image));
  for (const image of [1, 2, 3]) {
    cache.reserve(1);
    cache.publish(image, 1);
  }
  cache.release(2);
  cache.release(3);
  cache.take(2);
  cache.release(2);
  cache.reserve(1);
  expect(evicted).toEqual([3]);
  cache.publish(4, 1);
  cache.reserve(2);
  expect(evicted).toEqual([3, 2]);
  cache.publish(5, 2);
  // It was above its limit.
  cache.release(1);
  expect(evicted).toEqual([3, 2, 1]);
});

test("counts hits, bytes of the origin, and the time of a start compared with a cold one", () => {
  const figures = simulate(
    workloadOf(1, [
      [0, 0],
      [500, 0],
      [5_000, 0],
      [5_000, 1],
    ]),
    "hedgerow",
  );
  expect(figures.hitRate).toBe(1 / 4);
  expect(figures.originBytes).toBe(400e6);
  expect(figures.crowdFetches).toBe(1);
  expect(figures.slowestOfCrowd).toBeCloseTo(1);
  expect(figures.balance).toBe(1);
});

test("three hosts fetch a cold image from the origin, and the others get it from the tier", () => {
  const starts = Array.from({ length: 40 }, (): [number, number] => [0, 0]);
  const figures = simulate(workloadOf(40, starts), "least loaded");
  expect(figures.crowdFetches).toBe(3);
  expect(figures.originBytes).toBe(3 * 200e6);
  // A second from the origin, and then a fifth of it from the tier, each with the latency.
  expect(figures.slowestOfCrowd).toBeCloseTo((100 + 1_030 + 230) / (100 + 1_030));
});

test.for(NAMES)("%s gives the same figures for the same seed, with all workloads", (policy) => {
  for (const make of Object.values(WORKLOADS)) {
    const size = { hosts: 16, starts: 1_000, seed: 5 };
    const figures = simulate(make(size), policy);
    expect(simulate(make(size), policy)).toEqual(figures);
  }
});

test("nothing starts on a host before it joins or after it leaves", () => {
  const starts = Array.from({ length: 1_000 }, (_, time): [number, number] => [time, time % 2]);
  const hosts = [
    { id: "leaves", joins: 0, leaves: 500 },
    { id: "joins", joins: 500, leaves: Infinity },
  ];
  for (const policy of NAMES) {
    // One host at a time takes all starts, so that nothing moves and the load is even.
    const { balance, moved } = simulate({ ...workloadOf(0, starts), hosts }, policy);
    expect(balance, policy).toBe(1);
    expect(moved, policy).toBe(0);
  }
});

describe("64 hosts whose caches hold a fifth of the images, Zipf 0.9", () => {
  const workload = WORKLOADS["zipf-0.9"]({ hosts: 64, starts: 40_000 });
  const hedgerow = simulate(workload, "hedgerow");

  test("hedgerow hits 95 % within a load of 1.25 × the mean, and random placement at most 70 %", () => {
    expect(hedgerow.hitRate).toBeGreaterThanOrEqual(0.95);
    expect(hedgerow.balance).toBeLessThanOrEqual(1.25);
    expect(simulate(workload, "random").hitRate).toBeLessThanOrEqual(0.7);
  });

  test("a host that leaves moves at most its share and two percent of the placements", () => {
    expect(hedgerow.moved).toBeLessThanOrEqual(1 / 64 + 0.02);
  });

  test("images have the sizes that the documents report", () => {
    const sizes = workload.images.map(({ bytes }) => bytes).sort((one, other) => one - other);
    expect(sizes[500]! / MIB).toBeGreaterThan(230);
    expect(sizes[500]! / MIB).toBeLessThan(280);
  });
});
