/** What `onProgress` is told. */
import { writeFileSync } from "node:fs";
import {
  createSnapshot,
  type Progress,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters, writeSparse } from "../../../tests/support/snapshots/image.js";

const MIB = 2 ** 20;
const LEVEL = 5;

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("snapshot.vhs")];

/** Data, a hole, and data, of which the last is less than a piece. */
const bytes = Buffer.concat([
  letters("first", 9 * MIB),
  Buffer.alloc(5 * MIB),
  letters("last", 3 * MIB + 17),
]);

let info: SnapshotInfo;

const phases: Record<
  Progress["phase"],
  { run(onProgress: (progress: Progress) => void): Promise<unknown>; last(): Partial<Progress> }
> = {
  create: {
    run: (onProgress) => createSnapshot(image, path("again.vhs"), { level: LEVEL, onProgress }),
    last: () => ({ totalBytes: info.imageSize, bytes: info.imageSize, frames: info.dataFrames }),
  },
  restore: {
    run: (onProgress) => restoreSnapshot(snapshot, path("restored"), { workers: 1, onProgress }),
    last: () => ({ totalBytes: info.dataSize, bytes: info.dataSize, frames: info.dataFrames }),
  },
  verify: {
    run: (onProgress) => verifySnapshot(snapshot, { workers: 1, onProgress }),
    last: () => ({
      totalBytes: info.imageSize,
      bytes: info.imageSize,
      frames: info.dataFrames + info.holeFrames,
    }),
  },
};

beforeAll(async () => {
  writeFileSync(image, bytes);
  info = await createSnapshot(image, snapshot, { level: LEVEL });
});

describe.each(Object.keys(phases) as Progress["phase"][])("%s", (phase) => {
  const told: Progress[] = [];
  let duration: number;

  beforeAll(async () => {
    const start = performance.now();
    await phases[phase].run((progress) => told.push(progress));
    duration = performance.now() - start;
  });

  test("says what is done", () => {
    expect(told.map((progress) => progress.phase)).toEqual(told.map(() => phase));
  });

  test("never goes back", () => {
    for (const [index, now] of told.entries()) {
      const before = told[index - 1];
      if (before === undefined) continue;
      expect(now.totalBytes).toBe(before.totalBytes);
      for (const field of ["bytes", "compressedBytes", "frames"] as const) {
        expect(now[field]).toBeGreaterThanOrEqual(before[field]);
      }
    }
  });

  test("never goes beyond the end", () => {
    for (const { bytes, totalBytes, compressedBytes } of told) {
      expect(bytes).toBeLessThanOrEqual(totalBytes);
      expect(compressedBytes).toBeLessThanOrEqual(info.fileSize);
    }
  });

  test("ends with all that there was to do", () => {
    expect(told.at(-1)).toMatchObject(phases[phase].last());
    expect(told.at(-1)?.compressedBytes).toBeGreaterThan(info.fileSize * 0.99);
  });

  test("tells how fast it is, since the beginning", () => {
    const { bytes, bytesPerSecond } = told.at(-1)!;
    expect(bytesPerSecond).toBeGreaterThanOrEqual(bytes / (duration / 1000));
    for (const progress of told) expect(Number.isFinite(progress.bytesPerSecond)).toBe(true);
  });

  test("is told ten times a second at most, and once at the end", () => {
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(told.length).toBeLessThanOrEqual(1 + duration / 100);
  });
});

test("progress is told while the work goes on, and not only when it is done", async () => {
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  await createSnapshot(image, path("slow.vhs"), { workers: 1, level: 15, onProgress });
  expect(told.length).toBeGreaterThan(3);
  expect(told.some(({ bytes, totalBytes }) => bytes > 0 && bytes < totalBytes)).toBe(true);
}, 120_000);

test("holes that are known are not counted as work", async () => {
  writeSparse(path("sparse"), 4 * 1024 * MIB, [3 * MIB], () => letters("sparse", 2 * MIB));
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  await createSnapshot(path("sparse"), path("sparse.vhs"), { onProgress });
  expect(told.at(-1)).toMatchObject({ bytes: 2 * MIB, totalBytes: 2 * MIB, frames: 2 });
});

test("nothing is told of what is empty but its end", async () => {
  writeFileSync(path("empty"), "");
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  await createSnapshot(path("empty"), path("empty.vhs"), { onProgress });
  expect(told.at(-1)).toEqual({
    phase: "create",
    totalBytes: 0,
    bytes: 0,
    compressedBytes: 0,
    frames: 0,
    transferredBytes: 0,
    retries: 0,
    hedged: 0,
    bytesPerSecond: 0,
  });
});
