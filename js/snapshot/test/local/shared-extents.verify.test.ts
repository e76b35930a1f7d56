/** Ranges that an image and its base share, on real disks. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise, steps } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { libc } from "../../src/local/libc.js";
import { writeImage } from "../support/copies.js";
import { btrfsDisk, xfsDisk } from "../support/loop-disk.js";
import { clone, SharedBlocks, shared } from "../support/shared-extents.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const BLOCK = 4 * KIB;

const path = temporaryFolder();
const disks = { XFS: xfsDisk(512 * MIB), btrfs: btrfsDisk(512 * MIB) };
const compressed = btrfsDisk(256 * MIB, { compress: true });

/** Writes to part of a file. */
function write(name: string, offset: number, bytes: Buffer): void {
  const file = openSync(name, "r+");
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

/** Makes a range of a file a hole. */
async function punch(name: string, offset: number, length: number): Promise<void> {
  const file = await open(name, "r+");
  const result = await (await libc())!.punchHole(file.fd, offset, length);
  await file.close();
  expect(result).toBe(0);
}

/** Allocates a range of a file, which reads as before. */
const allocate = (name: string, offset: number, length: number) =>
  execFileSync("fallocate", ["-o", `${offset}`, "-l", `${length}`, name]);

/** Changes a file with `change-file.py`. */
function change(...args: (string | number)[]): void {
  const script = fileURLToPath(new URL("../support/change-file.py", import.meta.url));
  execFileSync("python3", [script, ...args.map(String)]);
}

describe.each(Object.entries(disks))("%s", (_, disk) => {
  /** Makes a base of `size` bytes with data in all of it or in stretches, and its clone. */
  function pair(size: number, stretches: [number, number][] = [[0, size]]) {
    const [base, image] = [disk.path("base"), disk.path("image")];
    writeImage(base, size, stretches);
    clone(base, image);
    return { base, image, blocks: new SharedBlocks(size, stretches) };
  }

  test("finds more extents than a call returns", async () => {
    const { base, image, blocks } = pair(24 * MIB + 3 * KIB);
    const file = openSync(image, "r+");
    for (const offset of steps(24 * MIB, 2 * BLOCK)) {
      writeSync(file, "written", offset);
      blocks.touch(offset, offset + 1);
    }
    closeSync(file);
    expect(blocks.ranges()).toHaveLength(3072);
    expect(await shared(image, base)).toEqual(blocks.ranges());
  });

  test("finds writes through mapped memory", async () => {
    const { base, image, blocks } = pair(4 * MIB);
    change("map", image, 2 * MIB - 3, "written");
    blocks.touch(2 * MIB - 3, 2 * MIB + 4);
    expect(await shared(image, base)).toEqual(blocks.ranges());
  });

  test("does not count allocated blocks that were never written", async () => {
    const { base, image, blocks } = pair(8 * MIB, [[0, 2 * MIB]]);
    allocate(image, 4 * MIB, MIB);
    execFileSync("fallocate", ["-z", "-o", `${MIB}`, "-l", `${64 * KIB}`, image]);
    blocks.touch(MIB, MIB + 64 * KIB);
    expect(await shared(image, base)).toEqual(blocks.ranges());
    // Both files have the same allocation, where the file system can share it.
    allocate(base, 6 * MIB, MIB);
    clone(base, image);
    expect(await shared(image, base)).toEqual([{ start: 0, end: 2 * MIB }]);
  });

  test("does not count holes", async () => {
    const stretches: [number, number][] = [
      [MIB, 2 * MIB],
      [5 * MIB, 5 * MIB + 12 * KIB],
      [63 * GIB, 63 * GIB + BLOCK],
    ];
    const [base, image] = [disk.path("base"), disk.path("image")];
    writeImage(base, 64 * GIB, stretches);
    clone(base, image);
    const ranges = stretches.map(([start, end]) => ({ start, end }));
    expect(await shared(image, base)).toEqual(ranges);
  });

  test("finds all blocks again after the base is cloned again", async () => {
    const { base, image } = pair(4 * MIB);
    write(image, MIB, noise("before", 2 * MIB));
    expect(await shared(image, base)).toHaveLength(2);
    clone(base, image);
    expect(await shared(image, base)).toEqual([{ start: 0, end: 4 * MIB }]);
  });

  test("counts nothing of a clone of another base with the same bytes", async () => {
    const { base, image } = pair(4 * MIB);
    execFileSync("cp", ["--reflink=never", base, disk.path("other base")]);
    expect(await shared(image, disk.path("other base"))).toEqual([]);
    clone(disk.path("other base"), disk.path("other image"));
    expect(await shared(disk.path("other image"), base)).toEqual([]);
  });

  test("counts blocks of the base only at the same offset", async () => {
    const { base, image, blocks } = pair(4 * MIB);
    change("clone", image, base, MIB, 2 * MIB, 64 * KIB);
    blocks.touch(2 * MIB, 2 * MIB + 64 * KIB);
    expect(await shared(image, base)).toEqual(blocks.ranges());
    change("clone", image, base, 2 * MIB, 2 * MIB, 64 * KIB);
    expect(await shared(image, base)).toEqual([{ start: 0, end: 4 * MIB }]);
  });

  test("finds blocks up to the smaller of the two sizes", async () => {
    const { base, image } = pair(4 * MIB);
    const end = 3 * MIB;
    expect(await shared(image, base, { image: end + 1 })).toEqual([{ start: 0, end }]);
    expect(await shared(image, base, { base: end + 4095 })).toEqual([{ start: 0, end }]);
  });

  test("cannot tell if a file is shorter than its size", async () => {
    const { base, image } = pair(4 * MIB);
    expect(await shared(image, base, { image: 4 * MIB + 1 })).toBe(undefined);
    expect(await shared(image, base, { base: 4 * MIB + 1 })).toBe(undefined);
  });

  test("cannot tell for files of different file systems", async () => {
    const { base, image } = pair(MIB);
    copyFileSync(base, path("elsewhere"));
    expect(await shared(image, path("elsewhere"))).toBe(undefined);
    expect(await shared(path("elsewhere"), base)).toBe(undefined);
  });

  const offset = fc.nat(4 * MIB);
  const length = fc.integer({ min: 1, max: 160 * KIB });
  const operation = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant("write"), offset, length) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("write to the base"), offset, length) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("write the same"), offset, length) },
    { weight: 2, arbitrary: fc.tuple(fc.constant("punch"), offset, length) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("truncate"), offset, length) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("allocate"), offset, length) },
  );

  test("finds exactly the untouched blocks after any changes", async () => {
    const size = 4 * MIB + 1001;
    const stretches: [number, number][] = [
      [0, MIB],
      [MIB + 64 * KIB, 2 * MIB],
      [2 * MIB + BLOCK, size],
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async (operations) => {
        const { base, image, blocks } = pair(size, stretches);
        for (const [kind, at, count] of operations) {
          if (kind === "write") write(image, at, noise(`${at}`, count));
          else if (kind === "write to the base") write(base, at, noise(`${at} base`, count));
          else if (kind === "write the same")
            write(image, at, readFileSync(image).subarray(at, at + count));
          else if (kind === "punch") await punch(image, at, count);
          else if (kind === "allocate") allocate(image, at, count);
          else truncateSync(image, at);
          if (kind === "truncate") blocks.touch(at);
          else if (kind !== "allocate") blocks.touch(at, at + count);
        }
        expect(await shared(image, base)).toEqual(blocks.ranges());
      }),
      { seed: 4, numRuns: trials({ few: 12, all: 100 }) },
    );
  });
});

describe("compressed btrfs", () => {
  test.each([
    ["counts nothing of compressed extents", 4 * MIB],
    ["counts nothing of a compressed block in the inode", BLOCK],
  ])("%s", async (_, size) => {
    const [base, image] = [compressed.path("base"), compressed.path("image")];
    writeFileSync(base, Buffer.alloc(size, "compressible"));
    clone(base, image);
    expect(await shared(image, base)).toEqual([]);
  });
});

test("reports why a hole cannot be punched", async () => {
  writeFileSync(path("read only"), "text");
  const file = await open(path("read only"), "r");
  expect(await (await libc())!.punchHole(file.fd, 0, 4)).toBe(-constants.errno.EBADF);
  await file.close();
});
