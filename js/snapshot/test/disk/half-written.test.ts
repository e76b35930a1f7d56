/** A kill in a write leaves no block half written, because the data that a disk writes is in memory. */
import { execFileSync } from "node:child_process";
import fs, { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createSnapshot, openSnapshot } from "@hedgerow/snapshot";
import koffi from "koffi";
import { afterEach, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { NBD, NbdClient } from "../support/nbd-client.js";

const SIZE = 2 ** 22;

const path = temporaryFolder();

const PAGE = Number(execFileSync("getconf", ["PAGESIZE"]));

const libc = koffi.load(null);

/** Returns the address of `target`, if `count` is 0. */
const copy: (target: Uint8Array, source: Uint8Array, count: number) => bigint | number = libc.func(
  "uint64_t memcpy(void *target, const void *source, size_t count)",
);
const madvise: (bytes: Uint8Array, length: number, advice: number) => number = libc.func(
  "int madvise(void *bytes, size_t length, int advice)",
);
const MADV_DONTNEED = 4;

/**
 * Returns zeros that are not in memory, and begin and end within a page. The allocator may return memory that was used
 * before, so that this gives it back.
 */
function absentZeros(size: number): Buffer {
  const bytes = Buffer.alloc(size + 2 * PAGE);
  const lead = PAGE - (Number(copy(bytes, bytes, 0)) % PAGE);
  const pages = bytes.subarray(lead, lead + size + PAGE);
  expect(madvise(pages, pages.length, MADV_DONTNEED)).toBe(0);
  return pages.subarray(PAGE / 2, PAGE / 2 + size);
}

/** Returns how many of the pages of a buffer are not in memory. */
function absentPages(bytes: Uint8Array): number {
  const start = Number(copy(bytes, bytes, 0));
  const [first, end] = [Math.floor(start / PAGE), Math.ceil((start + bytes.length) / PAGE)];
  const entries = new BigUint64Array(end - first);
  const file = openSync("/proc/self/pagemap", "r");
  readSync(file, entries, 0, entries.byteLength, first * 8);
  closeSync(file);
  return entries.filter((entry) => entry >> 63n === 0n).length;
}

const { writeSync } = fs;

afterEach(() => {
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
});

test("brings all pages of a write into memory before the kernel copies them", async () => {
  writeFileSync(path("image"), noise("image", SIZE));
  await createSnapshot(path("image"), path("a.vhs"), { workers: 1 });
  await using disk = await openSnapshot(path("a.vhs"), { image: path("disk"), workers: 1 });
  await disk.filled;
  await disk.listen({ path: path("socket") });
  const client = await NbdClient.open(path("socket"), { structured: false });
  const bytes = absentZeros(SIZE);
  expect(absentPages(bytes)).toBe(SIZE / PAGE + 1);

  const writes: { length: number; absent: number }[] = [];
  fs.writeSync = ((fd: number, source: Uint8Array, ...rest: [number, number, number]) => {
    const [offset, length] = rest;
    writes.push({ length, absent: absentPages(source.subarray(offset, offset + length)) });
    return writeSync(fd, source, ...rest);
  }) as typeof writeSync;
  syncBuiltinESMExports();
  await disk.write(0, bytes);
  const { zeroes } = NBD.cmd;
  const request = { offset: 4096, length: 2 ** 20, flags: NBD.flag.noHole, data: Buffer.alloc(0) };
  expect(await client.request({ type: zeroes, ...request })).toMatchObject({ errno: 0 });
  await client.close();

  const large = writes.filter(({ length }) => length >= 2 ** 20);
  expect(large.map(({ length }) => length)).toEqual([SIZE, 2 ** 20]);
  expect(writes.filter(({ absent }) => absent > 0)).toEqual([]);
});
