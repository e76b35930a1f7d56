/** An engine that stops, is slow, forgets, is full or answers garbage: pictures recover, and nothing is thrown. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { fillLease } from "../../src/fill-lease.js";
import { placement } from "../../src/placement/placement.js";
import type { FleetEngine } from "../../src/residency/engine.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import { reportResidency } from "../../src/residency/report.js";
import { Residency } from "../../src/residency/residency.js";
import { isTyped, newFleet, TIMEOUT } from "../support/faulty-fleet.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, Redis, until } from "../support/redis.js";
import { StubCache } from "../support/stub-cache.js";

let redis: Redis;

beforeAll(async () => {
  redis = await Redis.start();
});

afterAll(() => redis.close());

/** Checks that starts go on while the engine is away. */
async function expectOpen(residency: Residency, digest: string, client: unknown): Promise<void> {
  await until("that it notices", () => !residency.isCurrent);
  await until("that images are on no known host", () => residency.hostsOf(digest).size === 0);
  const residents = residency.hostsOf(digest);
  expect(placement(digest, residency.hosts(), { residents })).toMatchObject({
    host: "one",
    reason: "preferred",
  });
  const lease = await fillLease(digest, { client: client as never });
  expect(lease.reason).toBe("engine");
  await lease.release({ filled: true });
}

test("places without residency while the engine is stopped, and recovers when it is back without data", async () => {
  const { errors, client, cache, digest, residency } = await newFleet(redis);
  const patient = await watching({ client });
  await redis.stop();
  const other = cache.fill("while it is away");
  await until("that it notices", () => !patient.isCurrent);
  expect([...patient.hostsOf(digest)]).toEqual(["one"]);
  await expectOpen(residency, digest, client);
  await redis.restart();
  await untilShown(residency, { one: [digest, other] });
  expect(residency.isCurrent).toBe(true);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
});

test("places without residency while the engine hangs with open connections, and recovers", async () => {
  const { errors, client, cache, digest, residency } = await newFleet(redis);
  const empty = await watching({
    client: redisEngine(await connectTo(redis.url), { prefix: "no" }),
  });
  redis.pause();
  onTestFinished(() => redis.resume());
  const other = cache.fill("while it hangs");
  await expectOpen(residency, digest, client);
  await until("that nothing is heard of nobody", () => !empty.isCurrent);
  redis.resume();
  await untilShown(residency, { one: [digest, other] });
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
});

test("starts without an engine, and begins when there is one", async () => {
  const server = await Redis.start();
  onTestFinished(() => server.close());
  const redisClient = await connectTo(server.url);
  const client = redisEngine(redisClient, { timeout: TIMEOUT });
  await server.stop();
  const begun = performance.now();
  const residency = await watching({ client });
  const cache = new StubCache();
  const digest = cache.fill(1);
  const report = await reportResidency(cache.asCache, { client, host: "one", interval: 10 });
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect([residency.isCurrent, residency.hosts()]).toEqual([false, []]);
  await server.restart();
  await untilShown(residency, { one: [digest] });
  await server.stop();
  const closing = performance.now();
  await report.close();
  expect(performance.now() - closing).toBeLessThan(5_500);
});

test("publishes everything again when the engine has been emptied", async () => {
  const { errors, cache, digest, redisClient, residency } = await newFleet(redis);
  await redisClient.flushAll();
  const other = cache.fill("after it");
  await untilShown(residency, { one: [digest, other] });
  await until("an error", () => errors.some(({ message }) => message.includes("has lost")));
});

test.each(["state", "images", "hosts"])(
  "publishes everything again when the key of the %s was evicted or overwritten",
  async (name) => {
    const { client, digest, redisClient } = await newFleet(redis, `keys-${name}`);
    const key = `{keys-${name}}:${name}${name === "hosts" ? "" : ":one"}`;
    for (const harm of [
      () => redisClient.del(key),
      () => redisClient.set(key, "garbage"),
      () => redisClient.del(key).then(() => redisClient.rPush(key, "garbage")),
    ]) {
      await harm();
      const isWhole = async () => {
        const hosts = await client.hosts();
        const host = await client.read("one");
        return hosts.includes("one") && typeof host === "object" && host.images === digest;
      };
      await until("the key", isWhole);
    }
  },
);

test("reports errors while the engine takes no writes for lack of memory, and recovers", async () => {
  const server = await Redis.start();
  onTestFinished(() => server.close());
  const { errors, client, cache, digest, redisClient, residency } = await newFleet(server);
  await redisClient.configSet({ maxmemory: "1", "maxmemory-policy": "noeviction" });
  const other = cache.fill("while it is full");
  await until("an error", () => errors.some(({ message }) => message.includes("OOM")));
  const lease = await fillLease("image", { client });
  expect(lease.reason).toBe("engine");
  await lease.release();
  await redisClient.configSet("maxmemory", "0");
  await untilShown(residency, { one: [digest, other] });
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
});

test("recovers what the engine evicts for lack of memory", async () => {
  const server = await Redis.start();
  onTestFinished(() => server.close());
  // It answers all the time, however late: nothing has to be noticed by a timeout.
  const timeout = 60_000;
  const { cache, digest, redisClient, residency } = await newFleet(server, "faults", timeout);
  const digests = Array.from({ length: 2_000 }, (_, at) => cache.fill(at));
  await untilShown(residency, { one: [digest, ...digests] });
  await redisClient.configSet({ maxmemory: "1", "maxmemory-policy": "allkeys-lru" });
  await until("that it evicts", async () => (await redisClient.dbSize()) === 0);
  await redisClient.configSet("maxmemory", "0");
  const later = await watching({ client: redisEngine(redisClient, { prefix: "faults", timeout }) });
  await untilShown(later, { one: [digest, ...digests] });
  await untilShown(residency, { one: [digest, ...digests] });
});

test("stays current while the engine is slow, but faster than the timeout", async () => {
  const { errors, cache, digest, redisClient, residency } = await newFleet(redis, "slow", 5_000);
  const other = cache.fill("while it is slow");
  for (let count = 0; count < 5; count += 1) {
    await redisClient.sendCommand(["DEBUG", "SLEEP", "0.15"]);
    expect(residency.isCurrent).toBe(true);
  }
  await untilShown(residency, { one: [digest, other] });
  expect(errors).toEqual([]);
});

test("forgets a host that has gone while its state was on its way", async () => {
  const { client: engine, report, residency } = await newFleet(redis, "gone");
  const held: (() => void)[] = [];
  const slow: FleetEngine = {
    publish: (change) => engine.publish(change),
    remove: (host, epoch) => engine.remove(host, epoch),
    hosts: () => engine.hosts(),
    async read(host) {
      const stored = await engine.read(host);
      await new Promise<void>((resolve) => held.push(resolve));
      return stored;
    },
    subscribe: (onMessage, onEnd) => engine.subscribe(onMessage, onEnd),
    takeSlot: (request) => engine.takeSlot(request),
    releaseSlot: (...args) => engine.releaseSlot(...args),
  };
  const opening = Residency.watch({ client: slow });
  onTestFinished(async () => (await opening).close());
  await until("that the host was read", () => held.length === 1);
  await report.close();
  await until("that it has gone", () => residency.hosts().length === 0);
  held[0]?.();
  await until("that it is read again", () => held.length === 2);
  held[1]?.();
  expect((await opening).hosts()).toEqual([]);
});
