/** Arguments of residency: bounds, and errors that name the argument. */
import { createSentinel } from "@redis/client";
import { expect, test } from "vitest";

import type { FleetEngine } from "../../src/residency/engine.js";
import type { RedisClient } from "../../src/residency/redis-client.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import { reportResidency } from "../../src/residency/report.js";
import { Residency } from "../../src/residency/residency.js";
import { StubCache } from "../support/stub-cache.js";

/** A client that is never connected. */
const client: RedisClient = {
  isReady: false,
  sendCommand: () => Promise.reject(new Error("not connected")),
  duplicate: () => {
    throw new Error("not connected");
  },
};

const failureOf = (name: string) => ({
  name: "FleetError",
  code: "ERR_ARGUMENT",
  message: expect.stringMatching(`^${name}: expected .+, found `),
});

test.each([
  ["options", null],
  ["options", 7],
  ["client", {}],
  ["client", { client: "redis://127.0.0.1" }],
  ["options", { client, maxstale: 1 }],
  ["maxStale", { client, maxStale: -1 }],
  ["maxStale", { client, maxStale: 3_600_001 }],
  ["maxImages", { client, maxImages: 0 }],
  ["maxImages", { client, maxImages: 2 ** 26 + 1 }],
  ["onError", { client, onError: {} }],
])("Residency.watch rejects invalid %s", async (name, options) => {
  await expect(Residency.watch(options as never)).rejects.toMatchObject(failureOf(name));
});

test.each([
  ["options", null],
  ["options", { client, host: "a", onerror: () => {} }],
  ["client", { host: "a" }],
  ["host", { client }],
  ["host", { client, host: "" }],
  ["host", { client, host: "x".repeat(257) }],
  ["ttl", { client, host: "a", ttl: 299 }],
  ["ttl", { client, host: "a", ttl: 3_600_001 }],
  ["ttl", { client, host: "a", ttl: "30s" }],
  ["interval", { client, host: "a", interval: 0 }],
  ["interval", { client, host: "a", interval: 60_001 }],
  ["listInterval", { client, host: "a", listInterval: 99 }],
  ["listInterval", { client, host: "a", listInterval: 86_400_001 }],
  ["status", { client, host: "a", status: { load: 1 } }],
  ["onError", { client, host: "a", onError: 7 }],
])("reportResidency rejects invalid %s", async (name, options) => {
  const { asCache } = new StubCache();
  await expect(reportResidency(asCache, options as never)).rejects.toMatchObject(failureOf(name));
});

test("reportResidency rejects anything but a cache", async () => {
  const options = { client, host: "a" };
  await expect(reportResidency({} as never, options)).rejects.toMatchObject(failureOf("cache"));
});

test.each([
  ["client", undefined, {}],
  ["options", client, null],
  ["options", client, { prefixes: "a" }],
  ["prefix", client, { prefix: "" }],
  ["prefix", client, { prefix: "a{b}" }],
  ["prefix", client, { prefix: "x".repeat(65) }],
  ["timeout", client, { timeout: 9 }],
  ["timeout", client, { timeout: 60_001 }],
])("redisEngine rejects invalid %s", (name, given, options) => {
  expect(() => redisEngine(given as never, options as never)).toThrow(
    expect.objectContaining(failureOf(name)),
  );
});

test.each([
  ["ioredis", { ...client, defineCommand: () => {} }],
  ["createSentinel", createSentinel({ name: "fleet", sentinelRootNodes: [] })],
])("redisEngine refuses a client of %s, and names it", (name, given) => {
  const refused = {
    ...failureOf("client"),
    message: expect.stringContaining(`found one of ${name}`),
  };
  expect(() => redisEngine(given as never)).toThrow(expect.objectContaining(refused));
});

test("accepts the bounds of all options, and a client that is not connected", async () => {
  const { asCache } = new StubCache();
  const smallest = { ttl: 300, interval: 1, listInterval: 100 };
  const largest = { ttl: 3_600_000, interval: 60_000, listInterval: 86_400_000 };
  for (const options of [smallest, largest]) {
    const report = await reportResidency(asCache, { client, host: "x".repeat(256), ...options });
    await report.close();
  }
  for (const options of [
    { maxStale: 0, maxImages: 1 },
    { maxStale: 3_600_000, maxImages: 2 ** 26 },
  ]) {
    const residency = await Residency.watch({ client, ...options });
    expect([residency.isCurrent, residency.hosts()]).toEqual([false, []]);
    expect(() => residency.hostsOf("")).toThrow(expect.objectContaining(failureOf("identity")));
    await residency.close();
  }
  expect(() => redisEngine(client, { prefix: "x".repeat(64), timeout: 10 })).not.toThrow();
  expect(() => redisEngine(client, { timeout: 60_000 })).not.toThrow();
});

test("an engine of your own takes the place of a client", async () => {
  const calls: string[] = [];
  const engine: FleetEngine = {
    publish: async ({ host, isFull, added }) => {
      calls.push(`publish ${host} ${isFull} ${added.length}`);
      return true;
    },
    remove: async (host) => void calls.push(`remove ${host}`),
    hosts: async () => [],
    read: async () => undefined,
    subscribe: async () => () => {},
    takeSlot: async () => "held",
    releaseSlot: async () => {},
  };
  const cache = new StubCache();
  cache.fill(1);
  const report = await reportResidency(cache.asCache, { client: engine, host: "a" });
  await report.close();
  expect(calls).toEqual(["publish a true 1", "remove a"]);
});
