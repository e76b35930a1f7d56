/** Reports of real caches, and the pictures that others have of them. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import {
  KIB,
  makeSamples,
  newDirectories,
  openCache,
  type Sample,
} from "../../../snapshot/test/support/cache.js";
import { CacheProcess } from "../../../snapshot/test/support/cache-job.js";
import { placement } from "../../src/placement/placement.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import type { ReportOptions } from "../../src/residency/report.js";
import { reportResidency } from "../../src/residency/report.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, Redis, until } from "../support/redis.js";
import { StubCache } from "../support/stub-cache.js";

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let redis: Redis;
let samples: Sample[];
let fleets = 0;

beforeAll(async () => {
  redis = await Redis.start();
  samples = await makeSamples(path, ["a", "b", "c"], { data: 128 * KIB });
});

afterAll(() => redis.close());

/** Returns an engine that no other test uses, and a picture of its fleet. */
async function newFleet(version: 2 | 3 = 3) {
  fleets += 1;
  const client = redisEngine(await connectTo(redis.url, version), { prefix: `fleet-${fleets}` });
  return { client, residency: await watching({ client }) };
}

/** Reports until the test ends. */
async function reporting(
  cache: Parameters<typeof reportResidency>[0],
  options: ReportOptions,
): Promise<Awaited<ReturnType<typeof reportResidency>>> {
  const report = await reportResidency(cache, { interval: 10, ...options });
  onTestFinished(() => report.close());
  return report;
}

const get = (cache: Awaited<ReturnType<typeof openCache>>, { snapshot, digest }: Sample) =>
  cache.get(snapshot, { digest, workers: 1 });

test.each([2, 3] as const)(
  "shows images that a cache had, got, evicted and deleted, over version %i of the protocol",
  async (version) => {
    const { client, residency } = await newFleet(version);
    const [a, b, c] = samples as [Sample, Sample, Sample];
    const cache = await openCache(newDirectory());
    await (await get(cache, a)).release();
    const report = await reporting(cache, { client, host: "one" });
    await untilShown(residency, { one: [a.digest] });
    for (const sample of [b, c]) await (await get(cache, sample)).release();
    await untilShown(residency, { one: [a.digest, b.digest, c.digest] });
    await cache.delete(b.snapshot, { digest: b.digest });
    await untilShown(residency, { one: [a.digest, c.digest] }, [b.digest]);
    await cache.prune(0);
    await untilShown(residency, { one: [] }, [a.digest, c.digest]);
    await report.close();
    await untilShown(residency, {});
  },
);

test("shows images that another process puts into the directory", async () => {
  const { client, residency } = await newFleet();
  const directory = newDirectory();
  const options = { maxBytes: 64 * KIB * KIB };
  const cache = await openCache(directory, options);
  await reporting(cache, { client, host: "one" });
  await untilShown(residency, { one: [] });
  const other = CacheProcess.start({ directory, options });
  await other.untilReported("ready");
  const [{ snapshot, digest }] = samples as [Sample];
  await other.get({ source: snapshot, options: { digest, workers: 1 }, times: 1 });
  await untilShown(residency, { one: [digest] });
  await other.end();
});

test("shows changes without an event after the next listing", async () => {
  const { client, residency } = await newFleet();
  const cache = new StubCache();
  await reporting(cache.asCache, { client, host: "one", listInterval: 100 });
  const digest = cache.fill(1);
  await untilShown(residency, { one: [digest] });
  cache.digests.delete(digest);
  await untilShown(residency, { one: [] }, [digest]);
});

test("shows changes without being asked to", async () => {
  const { client, residency } = await newFleet();
  const cache = new StubCache();
  const report = await reportResidency(cache.asCache, { client, host: "one" });
  onTestFinished(() => report.close());
  const digest = cache.fill(1);
  await until("the image", () => residency.hostsOf(digest).has("one"));
});

test("publishes thousands of changes at once in full", async () => {
  const { client, residency } = await newFleet();
  const cache = new StubCache();
  await reporting(cache.asCache, { client, host: "one" });
  const digests = Array.from({ length: 5_000 }, (_, at) => cache.fill(at));
  await untilShown(residency, { one: digests });
  for (const digest of digests.slice(1)) cache.evict(digest);
  await untilShown(residency, { one: digests.slice(0, 1) }, digests);
});

test("reports at most 65,536 images, the most recently used ones", async () => {
  const { client, residency } = await newFleet();
  const cache = new StubCache();
  const digests = Array.from({ length: 65_600 }, (_, at) => cache.fill(at));
  await reporting(cache.asCache, { client, host: "one" });
  await until("the images", () => residency.hosts()[0]?.images === 65_536);
  expect([...residency.hostsOf(digests[65_535]!)]).toEqual(["one"]);
  expect(residency.hostsOf(digests[65_536]!).size).toBe(0);
});

test("publishes the state of a host, which placement takes", async () => {
  const { client, residency } = await newFleet();
  const busy = { load: 8, capacity: 2, available: true };
  const cache = new StubCache();
  const digest = cache.fill(1);
  const status = { ...busy };
  const report = await reporting(cache.asCache, { client, host: "one", status: () => status });
  await reporting(new StubCache().asCache, { client, host: "two" });
  await until("both hosts", () => residency.hosts().length === 2);
  const host = () => residency.hosts().find(({ id }) => id === "one");
  const measured = { images: 1, bytes: 1, hits: 2, misses: 1 };
  status.load = 9;
  report.update();
  await until("the counters", () => host()?.hits === 2 && host()?.load === 9);
  expect(host()).toEqual({ id: "one", ...busy, load: 9, ...measured });
  const options = { residents: residency.hostsOf(digest) };
  expect(placement(digest, residency.hosts(), options)).toMatchObject({ host: "two" });
  status.load = 0;
  report.update();
  await until("the load", () => host()?.load === 0);
  expect(placement(digest, residency.hosts(), options).host).toBe("one");
});

test("keeps the last state when the platform returns an invalid one, and reports it", async () => {
  const { client, residency } = await newFleet();
  const errors: Error[] = [];
  let load = 3;
  const report = await reporting(new StubCache().asCache, {
    client,
    host: "one",
    status: () => ({ load }),
    onError: (error) => {
      errors.push(error);
      throw new Error("a handler that fails");
    },
  });
  load = -1;
  report.update();
  await until("an error", () => errors.length > 0);
  expect(errors[0]).toMatchObject({ name: "FleetError", code: "ERR_ARGUMENT" });
  await until("the host", () => residency.hosts()[0]?.load === 3);
});

test("shows a host as long as it sends heartbeats, and not after it has stopped", async () => {
  const { client, residency } = await newFleet();
  let isAlive = true;
  const dying = new Proxy(client, {
    get: (target, name) =>
      isAlive ? Reflect.get(target, name) : () => Promise.reject(new Error("the host is dead")),
  });
  await reporting(new StubCache().asCache, { client: dying, host: "one", ttl: 2_000 });
  await untilShown(residency, { one: [] });
  const begun = performance.now();
  await until("two TTLs", () => {
    expect(residency.hosts()).toHaveLength(1);
    return performance.now() - begun > 4_000;
  });
  isAlive = false;
  await untilShown(residency, {});
});

test("a host that starts again replaces its earlier report", async () => {
  const { client, residency } = await newFleet();
  const [before, after] = [new StubCache(), new StubCache()];
  const [old, young] = [before.fill("old"), after.fill("young")];
  const first = await reporting(before.asCache, { client, host: "one", ttl: 3_600_000 });
  await untilShown(residency, { one: [old] });
  await reporting(after.asCache, { client, host: "one" });
  await untilShown(residency, { one: [young] }, [old]);
  // Must not remove the state of its successor.
  await first.close();
  const later = await watching({ client });
  await untilShown(later, { one: [young] }, [old]);
});

test("reports that a cache was closed, and goes on", async () => {
  const { client, residency } = await newFleet();
  const errors: Error[] = [];
  const cache = await openCache(newDirectory());
  const options = { client, host: "one", listInterval: 100, ttl: 600 };
  await reporting(cache, { ...options, onError: (error) => errors.push(error) });
  await cache.close();
  await until("an error", () => errors.length > 0);
  expect(errors[0]).toMatchObject({ code: "ERR_CACHE" });
  await untilShown(residency, { one: [] });
});
