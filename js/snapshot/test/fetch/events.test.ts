/** The events and the progress of a transfer. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createSnapshot,
  type Progress,
  type RestoreOptions,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { recordEvents } from "../support/events.js";
import { faultsOf, isPart, isTail, originOf } from "../support/remote.js";

const MIB = 2 ** 20;
const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
const bytes = noise("image", 6 * MIB);

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
});

beforeEach(() => rmSync(restored, { force: true }));

/** Restores, and returns all reports of progress. */
async function restore(origin: Origin, options: RestoreOptions): Promise<Progress[]> {
  const progress: Progress[] = [];
  const onProgress = (now: Progress) => void progress.push(now);
  const url = origin.url("/a.vhs?signature=secret");
  await restoreSnapshot(url, restored, { ...options, onProgress });
  expectSame(readFileSync(restored), bytes);
  return progress;
}

test("emits an event with the bytes of each request", async () => {
  const requests = recordEvents("hedgerow:snapshot:request");
  // Pieces larger than the budget of hedges: a hedge might be cancelled before the server sees it.
  await createSnapshot(path("image"), path("coarse.vhs"), { pieceSize: 2 ** 18 });
  const origin = await originOf({ "/a.vhs": path("coarse.vhs") });
  await restore(origin, { workers: 2, connections: 2, partSize: 2 ** 18 });
  const asked = origin.requests.filter(isPart).map(({ headers }) => headers.range);
  expect(asked.length).toBeGreaterThan(8);
  expect(requests.map(({ start, end }) => `bytes=${start}-${end - 1}`).sort()).toEqual(
    asked.sort(),
  );
  for (const request of requests) {
    expect(request).toMatchObject({ url: origin.url("/a.vhs").href, isHedge: expect.any(Boolean) });
  }
});

test("emits an event with the reason and the delay of each retry", async () => {
  const retries = recordEvents("hedgerow:snapshot:retry");
  const faults = faultsOf(isPart, { status: 500 }, 3);
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  const progress = await restore(origin, { connections: 1, partSize: 2 ** 20 });
  expect(retries).toHaveLength(3);
  for (const retry of retries) {
    expect(retry).toMatchObject({ url: origin.url("/a.vhs").href, isHedge: false });
    expect(retry.reason).toBe("the server failed (HTTP 500)");
    expect(retry.delay).toBeGreaterThanOrEqual(0);
    expect(retry.delay).toBeLessThanOrEqual(5_000);
    expect(retry.end).toBeGreaterThan(retry.start);
  }
  expect(progress.at(-1)?.retries).toBe(3);
});

test("emits an event when the server asks for fewer connections", async () => {
  const connections = recordEvents("hedgerow:snapshot:connections");
  // Slow enough that the limit of connections is checked before the transfer ends.
  const conditions = { bytesPerSecond: 700_000 };
  const origin = await originOf({ "/a.vhs": snapshot }, { conditions });
  origin.faults = faultsOf(isPart, { status: 429 }, 1);
  await restore(origin, { workers: 2, connections: 8, partSize: 2 ** 18 });
  expect(connections.length).toBeGreaterThanOrEqual(1);
  expect(connections[0]).toEqual({
    url: origin.url("/a.vhs").href,
    connections: expect.any(Number),
  });
  expect(Math.min(...connections.map((event) => event.connections))).toBeLessThan(8);
});

test("emits an event for each hedge of a slow range", async () => {
  const requests = recordEvents("hedgerow:snapshot:request");
  // One of the last ranges, so that connections are idle before it is given up.
  const slow = faultsOf(
    (request) => isPart(request) && request.range!.start > 5 * MIB,
    { bytesPerSecond: 30_000 },
    1,
  );
  const origin = await originOf({ "/a.vhs": snapshot }, { conditions: { bytesPerSecond: 3e6 } });
  origin.faults = slow;
  // The events of a second worker may arrive after the end.
  const options = { workers: 1, connections: 4, partSize: 2 ** 17, timeouts: { stall: 5_000 } };
  const progress = await restore(origin, options);
  const hedges = requests.filter(({ isHedge }) => isHedge);
  expect(hedges.length).toBeGreaterThanOrEqual(1);
  expect(progress.at(-1)?.hedged).toBe(hedges.length);
});

test("progress of a transfer never goes back, and ends at the total", async () => {
  const conditions = { bytesPerSecond: 3_000_000 };
  const faults = faultsOf((request) => !isTail(request), { cutAfter: 300_000 }, 6);
  const origin = await originOf({ "/a.vhs": snapshot }, { conditions, faults });
  const progress = await restore(origin, { connections: 2, partSize: MIB });
  expect(progress.length).toBeGreaterThan(3);
  for (const [index, now] of progress.entries()) {
    const before = progress[index - 1] ?? now;
    for (const field of [
      "bytes",
      "compressedBytes",
      "frames",
      "transferredBytes",
      "retries",
    ] as const) {
      expect(now[field]).toBeGreaterThanOrEqual(before[field]);
    }
    expect(now.bytes).toBeLessThanOrEqual(now.totalBytes);
  }
  expect(progress.at(-1)).toMatchObject({
    phase: "restore",
    bytes: bytes.length,
    totalBytes: bytes.length,
  });
});
