/** The calls of `onProgress`. */
import { writeFileSync } from "node:fs";
import {
  createSnapshot,
  type Progress,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters, writeSparse } from "../../../tests/support/snapshots/image.js";

const MIB = 2 ** 20;
const LEVEL = 5;

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("snapshot.vhs")];

/** Data, a hole, and data that ends amid a piece. */
const bytes = Buffer.concat([
  letters("first", 4 * MIB),
  Buffer.alloc(2 * MIB),
  letters("last", 2 * MIB + 17),
]);

let info: SnapshotInfo;

/** The operations. Only deltas have the other phase. */
type Operation = Exclude<Progress["phase"], "compare">;

const phases: Record<
  Operation,
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

test.each(Object.keys(phases) as Operation[])(
  "progress of %s names the phase, never goes back, and ends at the total",
  async (phase) => {
    const reports: Progress[] = [];
    const start = performance.now();
    await phases[phase].run((progress) => reports.push(progress));
    const duration = performance.now() - start;
    for (const [index, now] of reports.entries()) {
      const before = reports[index - 1] ?? { ...now, bytes: 0, compressedBytes: 0, frames: 0 };
      expect(now).toMatchObject({ phase, totalBytes: before.totalBytes });
      for (const field of ["bytes", "compressedBytes", "frames"] as const)
        expect(now[field]).toBeGreaterThanOrEqual(before[field]);
      expect(now.bytes).toBeLessThanOrEqual(now.totalBytes);
      expect(now.compressedBytes).toBeLessThanOrEqual(info.fileSize);
      expect(Number.isFinite(now.bytesPerSecond)).toBe(true);
    }
    const last = reports.at(-1)!;
    expect(last).toMatchObject(phases[phase].last());
    expect(last.compressedBytes).toBeGreaterThan(info.fileSize * 0.99);
    // The average throughput.
    expect(last.bytesPerSecond).toBeGreaterThanOrEqual(last.bytes / (duration / 1000));
    // Up to ten times a second, and once at the end.
    expect(reports.length).toBeLessThanOrEqual(1 + duration / 100);
  },
);

test("reports progress while the operation runs", async () => {
  const reports: Progress[] = [];
  const onProgress = (progress: Progress) => void reports.push(progress);
  await createSnapshot(image, path("slow.vhs"), { workers: 1, level: 12, onProgress });
  expect(reports.length).toBeGreaterThan(3);
  expect(reports.some(({ bytes, totalBytes }) => bytes > 0 && bytes < totalBytes)).toBe(true);
});

test("does not count known holes in the progress", async () => {
  writeSparse(path("sparse"), 4 * 1024 * MIB, [3 * MIB], () => letters("sparse", 2 * MIB));
  const reports: Progress[] = [];
  const onProgress = (progress: Progress) => void reports.push(progress);
  await createSnapshot(path("sparse"), path("sparse.vhs"), { onProgress });
  expect(reports.at(-1)).toMatchObject({ bytes: 2 * MIB, totalBytes: 2 * MIB, frames: 2 });
});

test("reports the end of an empty image", async () => {
  writeFileSync(path("empty"), "");
  const reports: Progress[] = [];
  const onProgress = (progress: Progress) => void reports.push(progress);
  await createSnapshot(path("empty"), path("empty.vhs"), { onProgress });
  expect(reports.at(-1)).toEqual({
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
