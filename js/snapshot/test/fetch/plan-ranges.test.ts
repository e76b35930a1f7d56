/** Which requests are sent, and how many bytes are transferred. */
import { readFileSync, statSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  type Progress,
  type RestoreOptions,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise, steps, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { expectNoConnections, isHead, isPart, isTail, originOf } from "../support/remote.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** The share of a snapshot that may be transferred twice from a healthy server. */
const EXTRA = 0.05;

/** How many bytes of an aborted response may have arrived without the server counting them as sent. */
const CHUNK = 2 ** 18;

const path = temporaryFolder();

describe("a healthy server", () => {
  const pieceSizes = [2 ** 16, MIB, 16 * MIB];
  const snapshotOf = (pieceSize: number) => path(`${pieceSize}.vhs`);

  beforeAll(async () => {
    const data = trials({ few: 28 * MIB, all: 56 * MIB });
    writeSparse(path("image"), data + 4 * MIB, [0], () => noise("image", data));
    for (const pieceSize of pieceSizes) {
      await createSnapshot(path("image"), snapshotOf(pieceSize), {
        workers: 1,
        pieceSize,
        level: 1,
      });
    }
  });

  /** Restores, and checks that few bytes are transferred twice. Returns the last progress. */
  async function restoreOnce(
    origin: Origin,
    size: number,
    options: RestoreOptions,
  ): Promise<Progress> {
    let last: Progress | undefined;
    const onProgress = (progress: Progress) => {
      last = progress;
    };
    await restoreSnapshot(origin.url("/a.vhs"), path("restored"), { ...options, onProgress });
    await expectNoConnections(origin);
    if (last === undefined) throw new Error("expected progress to be reported");
    expect(last.transferredBytes).toBeLessThanOrEqual(size * (1 + EXTRA));
    // If this process is stalled, the server seems slow to it, and it gives up requests whose bytes were sent:
    // it repeats them, and requests the rest of the prefetched beginning.
    const max = size * (1 + EXTRA) + repeatedPrefixBytes(origin);
    if (last.retries === 0) expect(origin.bytesSent).toBeLessThanOrEqual(max);
    return last;
  }

  /** Returns how many bytes of the prefetched beginning were requested again. */
  function repeatedPrefixBytes({ requests }: Origin): number {
    const end = requests.find(isHead)?.range?.end ?? 0;
    const parts = requests.filter(isPart);
    return parts.reduce(
      (sum, { range }) => sum + Math.max(0, Math.min(range!.end, end) - range!.start),
      0,
    );
  }

  const ways: RestoreOptions[] = [
    {},
    { connections: 1 },
    { connections: 2 },
    { connections: 16 },
    { connections: 64, partSize: MIB },
    { connections: 4, partSize: 2 ** 16 },
  ];
  // `npm test` tries a third of the options with each size of pieces, and each of them with one size.
  const all = pieceSizes.flatMap((pieceSize, shift) =>
    ways
      .filter((_, index) => trials({ few: (index + shift) % 3, all: 0 }) === 0)
      .map((options) => ({ pieceSize, options })),
  );

  test.each(all)(
    "transfers up to 5 % more than pieces of $pieceSize bytes need, with $options",
    async ({ pieceSize, options }) => {
      const origin = await originOf({ "/a.vhs": snapshotOf(pieceSize) });
      const { size } = statSync(snapshotOf(pieceSize));
      const { transferredBytes } = await restoreOnce(origin, size, options);
      expect(readFileSync(path("restored")).equals(readFileSync(path("image")))).toBe(true);
      // Every received byte was sent; responses that were aborted may count fewer.
      const cut = origin.requests.filter(({ aborted }) => aborted).length;
      expect(transferredBytes).toBeLessThanOrEqual(origin.bytesSent + cut * CHUNK);
      expect(transferredBytes).toBeGreaterThan(size * 0.99);
    },
  );

  // Of many connections more are slow at a time, and more ranges could be requested twice.
  test.each([16, 4, 1].slice(0, trials({ few: 1, all: 3 })))(
    "transfers up to 5 % more from a slow server over %i connections",
    async (connections) => {
      const conditions = { bytesPerSecond: 60e6 / connections, firstByte: 30 };
      const origin = await originOf({ "/a.vhs": snapshotOf(MIB) }, { conditions });
      await restoreOnce(origin, statSync(snapshotOf(MIB)).size, { connections });
    },
  );
});

describe("a sparse snapshot", () => {
  const size = 512 * GIB;
  let info: SnapshotInfo;

  beforeAll(async () => {
    const offsets = [0, size / 2, size - MIB];
    writeSparse(path("sparse"), size, offsets, (offset) => noise(`${offset}`, MIB));
    const options: CreateOptions = { workers: 1, level: 1 };
    info = await createSnapshot(path("sparse"), path("sparse.vhs"), options);
    expect(info.fileSize).toBeGreaterThan(10 * MIB);
  });

  /** Checks that little more than the data was sent. */
  async function expectDataOnly(origin: Origin): Promise<void> {
    await expectNoConnections(origin);
    expect(origin.bytesSent).toBeGreaterThan(info.dataSize);
    // Frames of holes are sent only within the prefetched beginning.
    expect(origin.bytesSent).toBeLessThan(info.fileSize / 2);
  }

  test("restores a sparse snapshot without requesting its holes", async () => {
    const origin = await originOf({ "/a.vhs": path("sparse.vhs") });
    await restoreSnapshot(origin.url("/a.vhs"), path("restored"), {
      ...{ workers: 1, partSize: 4 * MIB },
    });
    await expectDataOnly(origin);
    for (const { range } of origin.requests.filter((request) => !isTail(request))) {
      expect(range!.end - range!.start).toBeLessThanOrEqual(4 * MIB);
    }
    expect(statSync(path("restored")).size).toBe(size);
    expect(statSync(path("restored")).blocks * 512).toBeLessThan(4 * MIB);
  });

  test("verifies a sparse snapshot including its holes", async () => {
    const origin = await originOf({ "/a.vhs": path("sparse.vhs") });
    await verifySnapshot(origin.url("/a.vhs"), { workers: 1 });
    expect(origin.bytesSent).toBeGreaterThanOrEqual(statSync(path("sparse.vhs")).size);
  });
});

describe("inspectSnapshot", () => {
  test("inspects a snapshot with one request for its end", async () => {
    writeSparse(path("image"), 3 * GIB, [MIB], () => noise("image", MIB));
    const { duration: _, ...info } = await createSnapshot(path("image"), path("image.vhs"));
    const origin = await originOf({ "/a.vhs": path("image.vhs") });
    expect(await inspectSnapshot(origin.url("/a.vhs"))).toEqual(info);
    expect(origin.requests).toHaveLength(1);
    expect(isTail(origin.requests[0]!)).toBe(true);
    await expectNoConnections(origin);
  });

  test("inspects a snapshot with a long manifest with two requests", async () => {
    // Holes have entries in the manifest, too, and are cheaper than data.
    const offsets = steps(GIB / 4, 2 ** 15);
    writeSparse(path("image"), GIB / 4, offsets, (offset) => noise(`${offset}`, 4096));
    const made = createSnapshot(path("image"), path("image.vhs"), {
      ...{ workers: 1, pieceSize: 4096, level: 1 },
    });
    const { duration: _, ...info } = await made;
    const origin = await originOf({ "/a.vhs": path("image.vhs") });
    expect(await inspectSnapshot(origin.url("/a.vhs"))).toEqual(info);
    expect(origin.requests).toHaveLength(2);
    await expectNoConnections(origin);
  });
});
