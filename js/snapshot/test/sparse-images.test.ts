/** Holes of images are neither read nor written. */
import {
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createSnapshot, inspectSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { expectSame, letters, steps, writeSparse } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { expectSameBytes } from "./support/compare.js";
import { type ByteRange, extentsOf } from "./support/extents.js";
import { refusalOf } from "./support/refusal.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const path = temporaryFolder();

/** Returns the bytes that this process, with its threads, has read and written by system calls. */
function bytesReadAndWritten(): number {
  const counts = readFileSync("/proc/self/io", "utf8").matchAll(/^[rw]char: (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Creates a snapshot of a sparse file and restores it. */
async function sparseTrip(image: string) {
  const [snapshot, restored] = [path("sparse.vhs"), path("restored")];
  // Fail early: without extents the rest would take long.
  const extents = await extentsOf(image);
  const before = bytesReadAndWritten();
  const { duration: _, ...info } = await createSnapshot(image, snapshot, { workers: 1 });
  expect(await inspectSnapshot(snapshot)).toEqual(info);
  await restoreSnapshot(snapshot, restored, { workers: 1 });
  const moved = bytesReadAndWritten() - before;
  expect(statSync(restored).size).toBe(statSync(image).size);
  expect(await extentsOf(restored)).toEqual(extents);
  return { ...info, moved, restored, extents };
}

function expectSameExtents(image: string, other: string, extents: readonly ByteRange[]): void {
  const [one, two] = [openSync(image, "r"), openSync(other, "r")];
  for (const { start, end } of extents) {
    const [expected, found] = [Buffer.alloc(end - start), Buffer.alloc(end - start)];
    readSync(one, expected, 0, expected.length, start);
    readSync(two, found, 0, found.length, start);
    expectSame(found, expected);
  }
}

test("reads and writes only pieces with data of a sparse image of 64 GiB", async () => {
  const image = path("64 GiB");
  const offsets = [...steps(63 * GIB, GIB), 64 * GIB - 12 * KIB];
  writeSparse(image, 64 * GIB, offsets, (offset) => letters(`at ${offset}`, 12 * KIB));
  const { moved, restored, extents, ...info } = await sparseTrip(image);
  expect(info).toMatchObject({ imageSize: 64 * GIB, dataSize: 64 * 12 * KIB, dataFrames: 64 });
  expect(info.fileSize).toBeLessThan(4 * MIB);
  expectSameExtents(image, restored, extents);
  // A piece of 1 MiB for each extent, and a little more.
  expect(moved).toBeLessThan(128 * MIB);
});

test("restores thousands of tiny extents", async () => {
  const image = path("tiny extents");
  const count = trials({ few: 2_048, all: 5_120 });
  const size = count * 128 * KIB;
  const bytes = (offset: number) => letters(`at ${offset}`, 4 * KIB);
  writeSparse(image, size, steps(size, 128 * KIB), bytes);
  const { restored, ...info } = await sparseTrip(image);
  expect(info).toMatchObject({ dataSize: count * 4 * KIB, dataFrames: count, holeFrames: count });
  expectSameBytes(image, restored);
});

test("restores a hole at the end, one at the beginning, and a single hole", async () => {
  for (const [name, offsets] of Object.entries({ end: [0], begin: [9 * MIB], all: [] })) {
    writeSparse(path(name), 10 * MIB, offsets, () => letters(name, MIB));
    const { restored } = await sparseTrip(path(name));
    expectSameBytes(path(name), restored);
  }
});

test("rejects an image of more than 16 TiB", async () => {
  // Few file systems support files of this size.
  const image = `/dev/shm/hedgerow-${process.pid}`;
  try {
    writeFileSync(image, "");
    truncateSync(image, 2 ** 44 + 4096);
    const error = await refusalOf(createSnapshot(image, path("huge.vhs")), "ERR_IMAGE");
    expect(error.message).toContain(String(2 ** 44));
  } finally {
    rmSync(image, { force: true });
  }
});
