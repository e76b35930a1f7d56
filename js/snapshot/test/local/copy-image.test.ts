/** Private copies of images. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { rejectionOf } from "../../../../tests/support/assert.js";
import fc from "../../../../tests/support/fast-check.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { steps } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { copyImage } from "../../src/local/copy-image.js";
import type { Libc } from "../../src/local/libc.js";
import { expectSameFiles } from "../support/compare.js";
import {
  begun,
  copy,
  expectCopy,
  emptyFolder as newFolder,
  writeImage,
} from "../support/copies.js";
import { xfsDisk } from "../support/loop-disk.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const OLD = "what was there before";

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

const path = temporaryFolder();
const xfs = xfsDisk(320 * MIB);

/** Makes an empty folder and returns its path. */
const emptyFolder = () => newFolder(path);

/** With the C library, which finds holes, and without. */
const ways = [
  ["with known holes", {}],
  ["with unknown holes", undefined],
] as const;

describe.each(ways)("copying an image %s", (holes, libc) => {
  const layouts: Record<string, readonly [size: number, stretches: [number, number][]]> = {
    "an empty image": [0, []],
    "a single byte": [1, [[0, 1]]],
    "a single hole": [64 * MIB, []],
    "data and holes in turn": [
      6 * MIB,
      [...steps(6 * MIB, 24 * KIB)].map((at) => [at, at + 8 * KIB]),
    ],
    "data terabytes apart": [
      2 ** 42,
      [
        [2 ** 33, 2 ** 33 + MIB],
        [2 ** 42 - 4 * KIB, 2 ** 42],
      ],
    ],
  };
  // Where holes are unknown, all of them are read.
  const names = Object.keys(layouts).filter((name) => libc || layouts[name]![0] < 2 ** 40);

  test.each(names)(`copies %s ${holes}`, async (name) => {
    standIn.libc = libc;
    const [source, target] = [path("layout"), path("layout copy")];
    writeImage(source, ...layouts[name]!);
    expect(await copy(source, target)).toBe("copy");
    await expectCopy(source, target);
  });

  test(`copies any layout ${holes}`, async () => {
    const layout = fc.record({
      size: fc.nat(4 * MIB),
      edges: fc.uniqueArray(fc.nat(4 * MIB), { maxLength: 24 }),
    });
    const [source, target] = [path("any"), path("any copy")];
    await fc.assert(
      fc.asyncProperty(layout, async ({ size, edges }) => {
        standIn.libc = libc;
        const within = edges.filter((edge) => edge < size).sort((a, b) => a - b);
        const starts = [...within.keys()].filter((index) => index % 2 === 0);
        const stretches = starts.map((at) => [within[at]!, within[at + 1] ?? size] as const);
        writeImage(source, size, stretches as [number, number][]);
        expect(await copy(source, target)).toBe("copy");
        await expectCopy(source, target);
        expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
      }),
      { seed: 2, numRuns: trials({ few: 10, all: 60 }) },
    );
  });

  test(`copies to another file system ${holes}`, async () => {
    standIn.libc = libc;
    const folder = mkdtempSync("/dev/shm/hedgerow-");
    try {
      const [source, target] = [path("to memory"), join(folder, "copy")];
      writeImage(source, 9 * MIB, [[MIB, 6 * MIB]]);
      expect(await copy(source, target)).toBe("copy");
      await expectCopy(source, target);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test(`copies nothing after the signal has fired ${holes}`, async () => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("before"), MIB, [[0, MIB]]);
    const signal = AbortSignal.abort(new Error("the caller's own"));
    const copied = copy(path("before"), join(folder, "copy"), { signal });
    expect(await rejectionOf(copied)).toBe(signal.reason);
    expect(readdirSync(folder)).toEqual([]);
  });

  test(`stops copying when the signal fires ${holes}`, async () => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("midst"), 64 * MIB, [[0, 64 * MIB]]);
    const controller = new AbortController();
    const reason = new Error("the caller's own");
    const { signal } = controller;
    const ended = rejectionOf(copy(path("midst"), join(folder, "copy"), { signal }));
    const unfinished = openSync(await begun(folder), "r");
    const before = fstatSync(unfinished).blocks * 512;
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(readdirSync(folder)).toEqual([]);
    // The steps of both lanes end, of 4 MiB each; no other begins. The file system has blocks of its own.
    expect(fstatSync(unfinished).blocks * 512).toBeLessThanOrEqual(before + 8 * MIB + 64 * KIB);
    closeSync(unfinished);
    rmSync(path("midst"));
  });

  const cuts = [
    ["within its data", 2 * MIB],
    ["within the hole at its end", 3.5 * MIB],
    ["to nothing", 0],
  ] as const;

  test.each(cuts)(`rejects an image truncated %s before the copy ${holes}`, async (_, size) => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("cut"), 4 * MIB, [[0, 3 * MIB]]);
    truncateSync(path("cut"), size);
    const error = await rejectionOf(copy(path("cut"), join(folder, "copy"), { size: 4 * MIB }));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_IMAGE_CHANGED" });
    expect((error as Error).message).toContain(path("cut"));
    expect(readdirSync(folder)).toEqual([]);
  });

  const cutsMeanwhile = [
    ["within its data", 4 * KIB],
    ["within the hole at its end", 36 * MIB],
  ] as const;

  test.each(cutsMeanwhile)(
    `rejects an image truncated %s during the copy ${holes}`,
    async (_, size) => {
      standIn.libc = libc;
      const folder = emptyFolder();
      writeImage(path("cut soon"), 40 * MIB, [[0, 32 * MIB]]);
      const ended = rejectionOf(copy(path("cut soon"), join(folder, "copy")));
      await begun(folder);
      truncateSync(path("cut soon"), size);
      expect(await ended).toMatchObject({ code: "ERR_IMAGE_CHANGED" });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test(`copies an image that has grown up to its first size ${holes}`, async () => {
    standIn.libc = libc;
    writeImage(path("grown"), 3 * MIB, [[0, 3 * MIB]]);
    await copy(path("grown"), path("grown copy"), { size: 2 * MIB });
    truncateSync(path("grown"), 2 * MIB);
    await expectCopy(path("grown"), path("grown copy"));
  });
});

describe("target of a copy", () => {
  const source = path("source");
  writeImage(source, 2 * MIB, [[MIB, 2 * MIB]]);

  test.each([true, false])("replaces an existing file (durable: %s)", async (isDurable) => {
    const target = path("replaced");
    writeFileSync(target, OLD);
    chmodSync(target, 0o644);
    await copy(source, target, { isDurable });
    await expectCopy(source, target);
  });

  test("keeps an existing file with overwrite: false", async () => {
    const folder = emptyFolder();
    const target = join(folder, "left");
    writeFileSync(target, OLD);
    const error = await rejectionOf(copy(source, target, { overwrite: false }));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_TARGET" });
    expect(readFileSync(target, "utf8")).toBe(OLD);
    expect(readdirSync(folder)).toEqual(["left"]);
  });

  test("rejects a folder that does not exist", async () => {
    const error = await rejectionOf(copy(source, path("missing", "copy")));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_TARGET" });
    expect(existsSync(path("missing"))).toBe(false);
  });

  test("rejects an image that cannot be read", async () => {
    const folder = emptyFolder();
    const file = await open(path("only written"), "w");
    await file.truncate(MIB);
    const image = { fd: file.fd, size: MIB, name: "only written" };
    standIn.libc = undefined;
    const copied = copyImage(image, join(folder, "copy"), { isDurable: false });
    const error = await rejectionOf(copied);
    expect(error).toMatchObject({ code: "ERR_IMAGE", cause: { code: "EBADF" } });
    expect(readdirSync(folder)).toEqual([]);
    await file.close();
  });

  test.each(["EOPNOTSUPP", "EXDEV", "EINVAL", "EPERM", "ENOSPC", "EIO"] as const)(
    "copies the data if cloning fails with %s",
    async (name) => {
      standIn.libc = { clone: async () => -constants.errno[name] };
      expect(await copy(source, path("after refusal"))).toBe("copy");
      await expectCopy(source, path("after refusal"));
    },
  );
});

describe("XFS", () => {
  test("makes a clone that is independent of its source", async () => {
    const [source, target] = [xfs.path("source"), xfs.path("clone")];
    writeImage(source, 64 * MIB + 1001, [[MIB, 32 * MIB]]);
    expect(await copy(source, target)).toBe("clone");
    await expectCopy(source, target);

    const before = readFileSync(source);
    for (const [written, other] of [
      [target, source],
      [source, target],
    ] as const) {
      expect(await copy(source, target)).toBe("clone");
      const file = openSync(written, "r+");
      writeSync(file, OLD, 2 * MIB);
      closeSync(file);
      expect(readFileSync(other).equals(before)).toBe(true);
      expect(readFileSync(written).equals(before)).toBe(false);
    }
  });

  test("makes a clone of the size that was asked for", async () => {
    const [source, folder] = [xfs.path("length"), xfs.path("lengths")];
    mkdirSync(folder);
    writeImage(source, 4 * MIB, [[0, 4 * MIB]]);
    const error = await rejectionOf(copy(source, join(folder, "short"), { size: 5 * MIB }));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_IMAGE_CHANGED" });
    expect(readdirSync(folder)).toEqual([]);
    expect(await copy(source, join(folder, "long"), { size: 3 * MIB })).toBe("clone");
    truncateSync(source, 3 * MIB);
    await expectSameFiles(source, join(folder, "long"));
  });

  test("copies from another file system", async () => {
    writeImage(path("elsewhere"), 9 * MIB, [[MIB, 6 * MIB]]);
    expect(await copy(path("elsewhere"), xfs.path("from elsewhere"))).toBe("copy");
    await expectSameFiles(path("elsewhere"), xfs.path("from elsewhere"));
  });
});

describe("XFS that is nearly full", () => {
  beforeAll(() => {
    const { bavail, bsize } = statfsSync(xfs.path());
    execFileSync("fallocate", ["-l", `${bavail * bsize - 48 * MIB}`, xfs.path("other data")]);
  });

  test("clones data that is not on the disk yet, and shares its blocks", async () => {
    const [source, target] = [xfs.path("shared"), xfs.path("shares")];
    writeImage(source, 24 * MIB, [[0, 24 * MIB]]);
    // Copies with separate blocks would not fit.
    for (const count of [1, 2, 3]) expect(await copy(source, `${target}-${count}`)).toBe("clone");
    await expectSameFiles(source, `${target}-3`);
    for (const count of [1, 2, 3]) rmSync(`${target}-${count}`);
    rmSync(source);
  });

  test.each(ways)("reports a full disk %s", async (_, libc) => {
    standIn.libc = libc;
    const folder = xfs.path("full");
    mkdirSync(folder, { recursive: true });
    writeImage(path("too large"), 64 * MIB, [[0, 64 * MIB]]);
    const error = await rejectionOf(copy(path("too large"), join(folder, "copy")));
    expect(error).toMatchObject({
      name: "SnapshotError",
      code: "ERR_TARGET",
      cause: { code: "ENOSPC" },
    });
    expect((error as Error).message).toContain(join(folder, "copy"));
    // With known holes the size of the data is known before anything is written.
    expect((error as Error).message.includes("needs")).toBe(libc !== undefined);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(path("too large"));
  });
});
