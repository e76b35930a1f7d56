/** Reports of file systems about shared ranges: those that do not count, and nonsense. */
import { truncateSync } from "node:fs";
import { constants } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";

import { type Libc, libc } from "../../src/local/libc.js";
import { writeImage } from "../support/copies.js";
import { ext4Disk, xfsDisk } from "../support/loop-disk.js";
import { clone, shared } from "../support/shared-extents.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const BLOCK = 4 * KIB;

/** Replacements for functions of the C library; undefined if it cannot be called at all. */
const { standIn } = vi.hoisted(() => ({ standIn: { libc: {} as Partial<Libc> | undefined } }));

vi.mock(import("../../src/local/libc.js"), async (original) => {
  const { libc, ...others } = await original();
  return {
    ...others,
    libc: async () => {
      const real = await libc();
      return real && standIn.libc && { ...real, ...standIn.libc };
    },
  };
});

afterEach(() => {
  standIn.libc = {};
});

const [xfs, ext4] = [xfsDisk(320 * MIB), ext4Disk(16 * MIB)];

describe("XFS", () => {
  const [base, image] = [xfs.path("base"), xfs.path("image")];

  /** Offsets in a `struct fiemap` with one extent. */
  const [FOUND, LOGICAL, PHYSICAL, LENGTH, FLAGS] = [20, 32, 40, 48, 72];

  /** Makes a base of 1 MiB and its clone, and changes the answer to one of the calls: base, image, base. */
  async function pair(call = -1, edit = (_: Buffer) => {}) {
    const real = (await libc())!;
    writeImage(base, MIB, [[0, MIB]]);
    clone(base, image);
    let calls = 0;
    standIn.libc = {
      fiemap: async (fd, map) => {
        const result = await real.fiemap(fd, map);
        if (calls === call) edit(map);
        calls += 1;
        return result;
      },
    };
  }

  const calls = [
    ["the base", 0],
    ["the image", 1],
    ["the base once more", 2],
  ] as const;

  describe.each(calls)("mapping %s", (_, call) => {
    const flags = {
      UNKNOWN: 0x2,
      DELALLOC: 0x4,
      ENCODED: 0x8,
      DATA_ENCRYPTED: 0x80,
      NOT_ALIGNED: 0x100,
      DATA_INLINE: 0x200,
      DATA_TAIL: 0x400,
      UNWRITTEN: 0x800,
      "a flag of the future": 0x8000_0000,
    };
    test.each(Object.entries(flags))("does not count extents with %s", async (_, flag) => {
      await pair(call, (map) => map.writeUInt32LE((map.readUInt32LE(FLAGS) | flag) >>> 0, FLAGS));
      expect(await shared(image, base)).toEqual([]);
    });

    test("does not count extents without SHARED", async () => {
      await pair(call, (map) => map.writeUInt32LE(0x1, FLAGS));
      expect(await shared(image, base)).toEqual([]);
    });

    test("does not count extents that moved meanwhile", async () => {
      await pair(call, (map) =>
        map.writeBigUInt64LE(map.readBigUInt64LE(PHYSICAL) + BigInt(BLOCK), PHYSICAL),
      );
      expect(await shared(image, base)).toEqual([]);
    });

    test("counts nothing if the file system reports no extent", async () => {
      await pair(call, (map) => map.writeUInt32LE(0, FOUND));
      expect(await shared(image, base)).toEqual([]);
    });

    const nonsense: Record<string, (map: Buffer) => void> = {
      "more extents than asked for": (map) => map.writeUInt32LE(1025, FOUND),
      "an empty extent": (map) => map.writeBigUInt64LE(0n, LENGTH),
      "an extent that is too long": (map) => map.writeBigUInt64LE(2n ** 64n - 1n, LENGTH),
      "an offset on the disk that is too large": (map) =>
        map.writeBigUInt64LE(2n ** 64n - 1n, PHYSICAL),
      "overlapping extents": (map) => {
        map.writeUInt32LE(2, FOUND);
        map.copy(map, LOGICAL + 56, LOGICAL, LOGICAL + 56);
      },
      "extents out of order": (map) => {
        map.writeUInt32LE(2, FOUND);
        map.copy(map, LOGICAL + 56, LOGICAL, LOGICAL + 56);
        map.writeBigUInt64LE(BigInt(2 * MIB), LOGICAL);
      },
    };
    test.each(Object.entries(nonsense))("cannot tell from %s", async (_, edit) => {
      await pair(call, edit);
      expect(await shared(image, base)).toBe(undefined);
    });
  });

  test.each(["EOPNOTSUPP", "ENOTTY", "EIO"] as const)("cannot tell after %s", async (name) => {
    await pair();
    standIn.libc = { fiemap: async () => -constants.errno[name] };
    expect(await shared(image, base)).toBe(undefined);
    standIn.libc = { attributes: async () => -constants.errno[name] };
    expect(await shared(image, base)).toBe(undefined);
  });

  test("cannot tell for files on a realtime device", async () => {
    await pair();
    standIn.libc = { attributes: async () => 0x8000_0001 };
    expect(await shared(image, base)).toBe(undefined);
  });

  test("cannot tell without the C library", async () => {
    await pair();
    standIn.libc = undefined;
    expect(await shared(image, base)).toBe(undefined);
  });

  test("cannot tell from more than a million extents", async () => {
    await pair();
    const size = 8 * GIB;
    truncateSync(image, size);
    truncateSync(base, size);
    let calls = 0;
    standIn.libc = {
      fiemap: async (_, map) => {
        const start = Number(map.readBigUInt64LE(0));
        for (let index = 0; index < 1024; index += 1) {
          map.writeBigUInt64LE(BigInt(start + index * BLOCK), LOGICAL + index * 56);
          map.writeBigUInt64LE(BigInt(BLOCK), LENGTH + index * 56);
        }
        map.writeUInt32LE(1024, FOUND);
        calls += 1;
        return 0;
      },
    };
    expect(await shared(image, base)).toBe(undefined);
    expect(calls).toBe(1025);
  });
});

describe("ext4", () => {
  test("cannot tell where files share no blocks, and flushes nothing", async () => {
    const fiemap = vi.fn();
    standIn.libc = { fiemap };
    writeImage(ext4.path("image"), MIB, [[0, MIB]]);
    expect(await shared(ext4.path("image"), ext4.path("image"))).toBe(undefined);
    expect(fiemap).not.toHaveBeenCalled();
  });
});
