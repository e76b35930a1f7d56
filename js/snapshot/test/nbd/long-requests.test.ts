/** Requests that take long on a disk leave the event loop to others in between. */
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import type { DiskImage } from "../../dist/disk/disk-image.js";
import { DiskEngine } from "../../dist/disk/engine.js";
import { FairShare } from "../../dist/nbd/event-loop.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { NBD, NbdClient } from "../support/nbd-client.js";

const { cmd, flag } = NBD;
const MIB = 2 ** 20;
const path = temporaryFolder();

/** Counts the turns of the event loop until a promise settles. */
async function turnsUntil(done: Promise<void>): Promise<number> {
  let [turns, isDone] = [0, false];
  const end = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await end;
  return turns;
}

/** Returns an engine that uses nothing but an image. */
function engineOf(image: object): DiskEngine {
  const unused = undefined as never;
  return new DiskEngine(image as DiskImage, unused, unused, unused, false);
}

test.each(["writeZeros", "discard"] as const)("%s of much lets others go on", async (method) => {
  const cleared: number[] = [];
  const engine = engineOf({
    size: 1024 * MIB,
    partialBlocks: () => [],
    clear: async (start: number, end: number) => void cleared.push(end - start),
  });
  expect(await turnsUntil(engine[method](0, 1024 * MIB, true))).toBeGreaterThanOrEqual(32);
  expect(cleared).toEqual(Array.from({ length: 32 }, () => 32 * MIB));
});

test.each([
  [16_384, 4_096],
  [2, 4_096],
  [1, 256],
])("the status of a fragmented range in %i extents is that of its beginning", (limit, expected) => {
  const parts = function* (start: number, end: number) {
    for (let at = start; at < end; at += 4096) yield { start: at, end: at + 4096, frame: 0 };
  };
  let looks = 0;
  const statusAt = (_: number, { end }: { end: number }) => {
    looks += 1;
    return { end, isHole: true };
  };
  const engine = engineOf({ size: 4096 * MIB, layout: { parts }, statusAt });
  const extents = engine.status(0, 4095 * MIB, limit);
  expect(extents).toEqual([{ length: looks * 4096, flags: 3 }]);
  expect(looks).toBe(expected);
});

/** A device that takes a millisecond for whatever it does. */
class SlowExport extends MemoryExport {
  override status(...args: Parameters<MemoryExport["status"]>) {
    spin();
    return super.status(...args);
  }

  override prefetch() {
    spin();
  }

  override async writeZeros() {
    spin();
  }

  override async discard() {
    spin();
  }
}

function spin(): void {
  for (const end = performance.now() + 1; performance.now() < end; );
}

test.each([
  ["BLOCK_STATUS", { type: cmd.status, flags: flag.one, length: 4096 }],
  ["CACHE", { type: cmd.cache, length: 4096 }],
  ["WRITE_ZEROES", { type: cmd.zeroes, length: 4096 }],
  ["WRITE_ZEROES of 64 MiB", { type: cmd.zeroes, length: 64 * MIB }],
  ["TRIM", { type: cmd.trim, length: 4096 }],
])("other clients are served during many requests of %s", async (_, request) => {
  const exported = new SlowExport(64 * MIB);
  await using server = await NbdServer.listen(exported, listenOf({ path: path("slow") }));
  expect(server.uri).toContain("slow");
  const [busy, other] = [
    await NbdClient.open(path("slow"), { contexts: ["base:allocation"] }),
    await NbdClient.open(path("slow")),
  ];
  let [isDone, served] = [false, 0];
  const all = Promise.all(Array.from({ length: 200 }, () => busy.request(request))).then(() => {
    isDone = true;
  });
  while (!isDone) {
    await other.readAt(0, 512);
    served += 1;
  }
  await all;
  expect(served).toBeGreaterThan(10);
  await Promise.all([busy.close(), other.close()]);
});

test.each([
  ["WRITE_ZEROES", { type: cmd.zeroes, length: 64 * MIB }, "zeros 0 67108864 true"],
  ["TRIM", { type: cmd.trim, length: 64 * MIB }, "discard 0 67108864"],
])("one %s of much runs at a time", async (_, request, call) => {
  const exported = new MemoryExport(64 * MIB);
  await using server = await NbdServer.listen(exported, listenOf({ path: path("one") }));
  expect(server.uri).toContain("one");
  const [client, other] = [await NbdClient.open(path("one")), await NbdClient.open(path("one"))];
  const release = exported.hold();
  const all = Promise.all([1, 2, 3].map(() => client.request(request)));
  const turn = () => other.request({ type: cmd.cache, length: 0 });
  while (exported.calls.length === 0) await turn();
  for (let again = 0; again < 10; again += 1) await turn();
  expect(exported.calls).toEqual([call]);
  release();
  await all;
  expect(exported.calls).toEqual([call, call, call]);
  await Promise.all([client.close(), other.close()]);
});

test("CACHE of much lets others go on", async () => {
  const exported = new MemoryExport(80 * MIB);
  await using server = await NbdServer.listen(exported, listenOf({ path: path("cache") }));
  expect(server.uri).toContain("cache");
  const client = await NbdClient.open(path("cache"));
  expect((await client.request({ type: cmd.cache, length: 80 * MIB })).errno).toBe(0);
  const starts = [0, 32 * MIB, 64 * MIB];
  const calls = starts.map((at) => `prefetch ${at} ${Math.min(32 * MIB, 80 * MIB - at)}`);
  expect(exported.calls).toEqual(calls);
  await client.close();
});

test("of many connections that have more to do, one has its turn in each round", async () => {
  let round = 0;
  const begun: number[] = [];
  const shares = Array.from({ length: 5 }, () => new FairShare());
  for (const share of shares) {
    share.wait(() => begun.push(round));
    // It waits already.
    share.wait(() => begun.push(-1));
  }
  while (begun.length < shares.length) {
    await new Promise((resolve) => setImmediate(resolve));
    round += 1;
  }
  expect(new Set(begun).size).toBe(shares.length);
  expect(begun).not.toContain(-1);
});
