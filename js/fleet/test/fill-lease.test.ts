/** Leases to fill an image, of hosts in several processes. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { trials } from "../../../tests/support/trials.js";
import { fillLease } from "../src/fill-lease.js";
import { redisEngine } from "../src/residency/redis-engine.js";
import { FleetProcess } from "./support/fleet-process.js";
import { connectTo, Redis, until } from "./support/redis.js";

let redis: Redis;

beforeAll(async () => {
  redis = await Redis.start();
});

afterAll(() => redis.close());

/** How far the clocks of processes are ahead, in milliseconds. */
const SHIFTS = [600_000, -86_400_000, 0, -1, -600_000].slice(0, trials({ few: 3, all: 5 }));

test.each([1, 3])(
  `has at most %i holders when ${10 * SHIFTS.length} hosts in processes with different clocks take a lease`,
  async (slots) => {
    const client = await connectTo(redis.url);
    await client.del("holders");
    const leases = { identity: `image-${slots}`, count: 10, hold: 20, slots };
    const processes = SHIFTS.map((shift) => new FleetProcess({ url: redis.url, shift, leases }));
    await Promise.all(processes.map((process) => process.ended()));
    const events = processes.flatMap((process) => process.events);
    expect(events.map(({ reason }) => reason)).toEqual(Array(10 * SHIFTS.length).fill("slot"));
    expect(Math.max(...events.map(({ holders = 0 }) => holders))).toBeLessThanOrEqual(slots);
    expect(await client.zCard(`{hedgerow}:slots:image-${slots}`)).toBe(0);
  },
);

test("the slot of a killed holder is free after its TTL, by the clock of the engine", async () => {
  const client = await connectTo(redis.url);
  const leases = { identity: "killed", count: 1, hold: 60_000, slots: 1, ttl: 3_000 };
  const holder = new FleetProcess({ url: redis.url, shift: 3_600_000, leases });
  await holder.untilEvents(1);
  const early = await fillLease("killed", { client, slots: 1, maxWait: 4_500 });
  // It was renewed meanwhile.
  expect(early.reason).toBe("timeout");
  await early.release();
  await holder.kill();
  const lease = await fillLease("killed", { client, slots: 1 });
  expect(lease.reason).toBe("slot");
  await lease.release();
});

test("all that wait go on at once when one has filled the image", async () => {
  const client = await connectTo(redis.url);
  const first = await fillLease("filled", { client, slots: 1 });
  const waiting = Array.from({ length: 20 }, () => fillLease("filled", { client, slots: 1 }));
  await first.release({ filled: true });
  const leases = await Promise.all(waiting);
  expect(leases.map(({ reason }) => reason)).toEqual(Array(20).fill("filled"));
  expect((await fillLease("filled", { client, slots: 1 })).reason).toBe("filled");
  expect(await client.pTTL("{hedgerow}:filled:filled")).toBeGreaterThan(50_000);
});

test("the next one has the slot when the holder has not filled the image", async () => {
  const client = await connectTo(redis.url);
  const first = await fillLease("failed", { client, slots: 1 });
  const next = fillLease("failed", { client, slots: 1 });
  await first.release();
  await first.release({ filled: true });
  expect((await next).reason).toBe("slot");
  await (await next).release();
});

test("goes on without a slot when the image is resident, or the wait is over", async () => {
  const client = await connectTo(redis.url);
  const held = await fillLease("waits", { client, slots: 1 });
  let isResident = false;
  const options = { client, slots: 1, isResident: () => isResident };
  const waiting = fillLease("waits", options);
  expect(await fillLease("waits", { ...options, maxWait: 0 })).toMatchObject({ reason: "timeout" });
  isResident = true;
  expect((await waiting).reason).toBe("resident");
  await held.release();
});

test("rejects with the reason of a signal that is aborted, and keeps no slot", async () => {
  const client = await connectTo(redis.url);
  const held = await fillLease("aborted", { client, slots: 1 });
  const reason = new Error("no longer needed");
  const controller = new AbortController();
  const waiting = fillLease("aborted", { client, slots: 1, signal: controller.signal });
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(fillLease("aborted", { client, signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
  await held.release();
  expect(await client.zCard("{hedgerow}:slots:aborted")).toBe(0);
});

test("keeps no slot that it gets at the moment at which its signal is aborted", async () => {
  const client = await connectTo(redis.url);
  const engine = redisEngine(client);
  const controller = new AbortController();
  const takeSlot: typeof engine.takeSlot = async (request) => {
    const found = await engine.takeSlot(request);
    controller.abort();
    return found;
  };
  const options = { client: { ...engine, takeSlot }, signal: controller.signal };
  await expect(fillLease("granted", options)).rejects.toThrow("aborted");
  expect(await client.zCard("{hedgerow}:slots:granted")).toBe(0);
});

test("goes on without a slot when keys are of another type, and takes slots again", async () => {
  const client = await connectTo(redis.url);
  await client.set("{hedgerow}:slots:garbage", "garbage");
  const lease = await fillLease("garbage", { client });
  expect(lease.reason).toBe("slot");
  await lease.release();
});

test("keeps no slot that it took without noticing while the engine was slow", async () => {
  const server = await Redis.start();
  onTestFinished(() => server.close());
  const client = await connectTo(server.url);
  const engine = redisEngine(client, { timeout: 200 });
  await engine.takeSlot({ identity: "slow", holder: "other", slots: 2, ttl: 60_000 });
  server.pause();
  const lease = await fillLease("slow", { client: engine });
  expect(lease.reason).toBe("engine");
  await lease.release();
  server.resume();
  await until("that only the other holds", async () => {
    return (await client.zCard("{hedgerow}:slots:slow")) === 1;
  });
});

test("names all options that are invalid", async () => {
  const client = await connectTo(redis.url);
  for (const [name, options] of [
    ["options", null],
    ["options", { client, slot: 1 }],
    ["client", {}],
    ["client", { client: 7 }],
    ["slots", { client, slots: 0 }],
    ["slots", { client, slots: 1_025 }],
    ["ttl", { client, ttl: 299 }],
    ["ttl", { client, ttl: 3_600_001 }],
    ["maxWait", { client, maxWait: -1 }],
    ["maxWait", { client, maxWait: 86_400_001 }],
    ["isResident", { client, isResident: true }],
    ["onError", { client, onError: "log" }],
    ["signal", { client, signal: {} }],
  ] as const) {
    const failure = { code: "ERR_ARGUMENT", message: expect.stringMatching(`^${name}: expected`) };
    await expect(fillLease("image", options as never)).rejects.toMatchObject(failure);
  }
  await expect(fillLease("", { client })).rejects.toMatchObject({ code: "ERR_ARGUMENT" });
  const lease = await fillLease("image", { client, slots: 1_024, ttl: 300, maxWait: 86_400_000 });
  expect(lease.reason).toBe("slot");
  await lease.release();
});
