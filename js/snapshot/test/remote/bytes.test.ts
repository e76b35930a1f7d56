/** What is asked of a server, and how much comes. */
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
import { noise, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { expectNoConnections, isHead, isPart, isTail, originOf } from "../support/remote.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const TIB = 2 ** 40;

/** How much of a snapshot may come twice from a server that is well. */
const EXTRA = 0.05;

/** How many bytes of an answer that is cut off may have come though its server does not count them as sent. */
const CHUNK = 2 ** 18;

const path = temporaryFolder();

describe("a server that is well sends 5 % more than there is, at most", () => {
  const pieceSizes = [2 ** 16, MIB, 16 * MIB];
  const snapshotOf = (pieceSize: number) => path(`${pieceSize}.vhs`);

  beforeAll(async () => {
    writeSparse(path("image"), 60 * MIB, [0], () => noise("image", 56 * MIB));
    for (const pieceSize of pieceSizes) {
      await createSnapshot(path("image"), snapshotOf(pieceSize), { pieceSize });
    }
  });

  /** Restores, and throws if more than a little comes twice, or is sent twice. Returns what was told last. */
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
    if (last === undefined) throw new Error("expected to be told of progress");
    expect(last.transferredBytes).toBeLessThanOrEqual(size * (1 + EXTRA));
    // If this process is held up, it takes the server for slow. What it gives up then was sent, and may not
    // have come: it is asked for again, and so is what is missing of the beginning.
    const most = size * (1 + EXTRA) + askedAgainOfHead(origin);
    if (last.retries === 0) expect(origin.bytesSent).toBeLessThanOrEqual(most);
    return last;
  }

  /** How many bytes of what was asked for as the beginning were asked for later. */
  function askedAgainOfHead({ requests }: Origin): number {
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
  const all = pieceSizes.flatMap((pieceSize) => ways.map((options) => ({ pieceSize, options })));

  test.each(all)("pieces of $pieceSize bytes, $options", async ({ pieceSize, options }) => {
    const origin = await originOf({ "/a.vhs": snapshotOf(pieceSize) });
    const { size } = statSync(snapshotOf(pieceSize));
    const { transferredBytes } = await restoreOnce(origin, size, options);
    expect(readFileSync(path("restored")).equals(readFileSync(path("image")))).toBe(true);
    // What a server sent is what came, but for what was on its way when it was not wanted any more.
    const cut = origin.requests.filter(({ aborted }) => aborted).length;
    expect(transferredBytes).toBeLessThanOrEqual(origin.bytesSent + cut * CHUNK);
    expect(transferredBytes).toBeGreaterThan(size * 0.99);
  });

  test.each([1, 4, 16])("nor does one that is slow, over %i connections", async (connections) => {
    const conditions = { bytesPerSecond: 60e6 / connections, firstByte: 30 };
    const origin = await originOf({ "/a.vhs": snapshotOf(MIB) }, { conditions });
    await restoreOnce(origin, statSync(snapshotOf(MIB)).size, { connections });
  });
});

describe("a snapshot of which most is holes", () => {
  let info: SnapshotInfo;

  beforeAll(async () => {
    const offsets = [0, TIB / 2, TIB - 3 * MIB];
    writeSparse(path("sparse"), TIB, offsets, (offset) => noise(`${offset}`, 3 * MIB));
    const options: CreateOptions = { level: 1 };
    info = await createSnapshot(path("sparse"), path("sparse.vhs"), options);
    expect(info.fileSize).toBeGreaterThan(30 * MIB);
  });

  /** Throws unless what was sent is not much more than the data. */
  async function expectFew(origin: Origin): Promise<void> {
    await expectNoConnections(origin);
    const { size } = statSync(path("sparse.vhs"));
    expect(origin.bytesSent).toBeGreaterThan(info.dataSize);
    // What is sent of holes is what comes with the first bytes, before it is known what they are.
    expect(origin.bytesSent).toBeLessThan(size / 2);
  }

  test("is restored without them", async () => {
    const origin = await originOf({ "/a.vhs": path("sparse.vhs") });
    await restoreSnapshot(origin.url("/a.vhs"), path("restored"), { partSize: 4 * MIB });
    await expectFew(origin);
    for (const { range } of origin.requests.filter((request) => !isTail(request))) {
      expect(range!.end - range!.start).toBeLessThanOrEqual(4 * MIB);
    }
    expect(statSync(path("restored")).size).toBe(TIB);
    expect(statSync(path("restored")).blocks * 512).toBeLessThan(10 * MIB);
  });

  test("is verified with them", async () => {
    const origin = await originOf({ "/a.vhs": path("sparse.vhs") });
    await verifySnapshot(origin.url("/a.vhs"));
    expect(origin.bytesSent).toBeGreaterThanOrEqual(statSync(path("sparse.vhs")).size);
  });
});

describe("looking at a snapshot", () => {
  test("takes one request, of its end", async () => {
    writeSparse(path("image"), 3 * GIB, [MIB], () => noise("image", MIB));
    const { duration: _, ...info } = await createSnapshot(path("image"), path("image.vhs"));
    const origin = await originOf({ "/a.vhs": path("image.vhs") });
    expect(await inspectSnapshot(origin.url("/a.vhs"))).toEqual(info);
    expect(origin.requests).toHaveLength(1);
    expect(isTail(origin.requests[0]!)).toBe(true);
    await expectNoConnections(origin);
  });

  test("takes two, if what it says of itself is long", async () => {
    writeSparse(path("image"), 64 * MIB, [0], () => noise("image", 64 * MIB));
    const made = createSnapshot(path("image"), path("image.vhs"), { pieceSize: 4096 });
    const { duration: _, ...info } = await made;
    const origin = await originOf({ "/a.vhs": path("image.vhs") });
    expect(await inspectSnapshot(origin.url("/a.vhs"))).toEqual(info);
    expect(origin.requests).toHaveLength(2);
    await expectNoConnections(origin);
  });
});
