/** Copies made in the kernel by `copy_file_range`, and what replaces it where it fails. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import type { Libc } from "../../src/local/libc.js";
import { copy, expectCopy, emptyFolder as newFolder, writeImage } from "../support/copies.js";
import { ext4Disk } from "../support/loop-disk.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

type CopyRange = Libc["copyRange"];
type Arguments = Parameters<CopyRange>;

/** Replaces `copyRange`; is also given the original. */
type StandIn = (original: CopyRange, ...args: Arguments) => Promise<number>;

const { standIn } = vi.hoisted(() => ({ standIn: {} as { copyRange?: StandIn | undefined } }));

vi.mock(import("../../src/local/libc.js"), async (original) => {
  const { libc, ...others } = await original();
  return {
    ...others,
    libc: async () => {
      const real = await libc();
      const { copyRange } = standIn;
      if (real === undefined || copyRange === undefined) return real;
      return { ...real, copyRange: (...args: Arguments) => copyRange(real.copyRange, ...args) };
    },
  };
});

afterEach(() => {
  standIn.copyRange = undefined;
});

const path = temporaryFolder();
const emptyFolder = () => newFolder(path);
const DISK_SIZE = 48 * MIB;
const ext4 = ext4Disk(DISK_SIZE);

const source = path("source");
/** Bytes in runs that are long enough for the kernel. */
const LONG_RUNS = 23 * MIB + 12 * KIB;
writeImage(source, 80 * MIB + 1001, [
  [MIB, 24 * MIB],
  [40 * MIB, 40 * MIB + 12 * KIB],
  // These two share a window.
  [60 * MIB, 60 * MIB + 8 * KIB],
  [60 * MIB + 64 * KIB, 60 * MIB + 72 * KIB],
]);

/** The number of calls that koffi takes at once. */
const MOST_CALLS = 256;

test("makes more copies at once than koffi takes calls", async () => {
  const folder = emptyFolder();
  const small = join(folder, "small");
  // Each of the two lanes of a copy has a range to copy.
  writeImage(small, 3 * MIB, [
    [0, 12 * KIB],
    [2 * MIB, 2 * MIB + 12 * KIB],
  ]);
  let calls = 0;
  let begin = () => {};
  const enough = new Promise<void>((resolve) => {
    begin = resolve;
  });
  standIn.copyRange = async (original, ...args) => {
    calls += 1;
    if (calls > MOST_CALLS) begin();
    await enough;
    return original(...args);
  };
  const names = Array.from({ length: 140 }, (_, index) => join(folder, `copy-${index}`));
  await Promise.all(names.map((name) => copy(small, name)));
  for (const name of names) await expectCopy(small, name);
});

test("copies long runs in the kernel and nothing twice", async () => {
  let copied = 0;
  standIn.copyRange = async (original, ...args) => {
    const count = await original(...args);
    copied += count;
    return count;
  };
  expect(await copy(source, path("kernel"))).toBe("copy");
  await expectCopy(source, path("kernel"));
  expect(copied).toBe(LONG_RUNS);
});

test.each(["EXDEV", "EINVAL", "ENOSYS", "EOPNOTSUPP", "EPERM"] as const)(
  "reads and writes if copy_file_range fails with %s",
  async (name) => {
    const copyRange = vi.fn<StandIn>(async () => -constants.errno[name]);
    standIn.copyRange = copyRange;
    expect(await copy(source, path(name))).toBe("copy");
    await expectCopy(source, path(name));
    // Once for each lane at most: a refusal holds for the whole copy.
    expect(copyRange.mock.calls.length).toBeLessThanOrEqual(3);
  },
);

test("reads and writes the rest if copy_file_range fails half-way", async () => {
  let calls = 0;
  standIn.copyRange = async (original, target, from, offset, length) => {
    calls += 1;
    if (calls > 4) return -constants.errno.EOPNOTSUPP;
    return original(target, from, offset, Math.min(length, MIB + 513));
  };
  expect(await copy(source, path("half-way"))).toBe("copy");
  await expectCopy(source, path("half-way"));
});

test("goes on after short counts", async () => {
  standIn.copyRange = (original, target, from, offset, length) =>
    original(target, from, offset, Math.min(length, 64 * KIB + 1));
  await copy(source, path("short"));
  await expectCopy(source, path("short"));
});

test("repeats a call that a signal interrupted", async () => {
  let [calls, copied] = [0, 0];
  standIn.copyRange = async (original, ...args) => {
    calls += 1;
    if (calls % 2 === 1) return -constants.errno.EINTR;
    const count = await original(...args);
    copied += count;
    return count;
  };
  await copy(source, path("interrupted"));
  await expectCopy(source, path("interrupted"));
  expect(copied).toBe(LONG_RUNS);
});

test("begins no call after the signal has fired", async () => {
  const folder = emptyFolder();
  const controller = new AbortController();
  const reason = new Error("the caller's own");
  let calls = 0;
  standIn.copyRange = async (original, target, from, offset, length) => {
    calls += 1;
    // A copy that would take very many calls.
    const count = await original(target, from, offset, Math.min(length, 4 * KIB));
    controller.abort(reason);
    return count;
  };
  const copied = copy(source, join(folder, "copy"), { signal: controller.signal });
  expect(await rejectionOf(copied)).toBe(reason);
  expect(calls).toBeLessThanOrEqual(3);
  expect(readdirSync(folder)).toEqual([]);
});

test("copies at most 4 MiB per call, so that an abort is prompt", async () => {
  const lengths: number[] = [];
  standIn.copyRange = (original, ...args) => {
    lengths.push(args[3]);
    return original(...args);
  };
  await copy(source, path("prompt"));
  expect(Math.max(...lengths)).toBe(4 * MIB);
});

describe("ext4", () => {
  test("copies to ext4 in the kernel and keeps holes", async () => {
    const [from, to] = [ext4.path("small"), ext4.path("small copy")];
    writeImage(from, DISK_SIZE, [[4 * MIB, 10 * MIB]]);
    expect(await copy(from, to)).toBe("copy");
    await expectCopy(from, to);
    for (const file of [from, to]) rmSync(file);
  });

  test("reports a disk that fills up during the copy", async () => {
    const folder = ext4.path("full");
    const from = ext4.path("large");
    writeImage(from, 16 * MIB, [[0, 16 * MIB]]);
    const original = readFileSync(from);
    const fillDisk = () => {
      try {
        writeFileSync(ext4.path("filler"), Buffer.alloc(DISK_SIZE, 1));
      } catch {}
    };
    standIn.copyRange = async (copyRange, ...args) => {
      fillDisk();
      return copyRange(...args);
    };
    newFolder(() => folder);
    const error = await rejectionOf(copy(from, join(folder, "copy")));
    expect(error).toMatchObject({
      name: "SnapshotError",
      code: "ERR_TARGET",
      cause: { code: "ENOSPC" },
    });
    expect((error as Error).message).toContain(join(folder, "copy"));
    expect(readdirSync(folder)).toEqual([]);
    expect(readFileSync(from).equals(original)).toBe(true);
  });
});
