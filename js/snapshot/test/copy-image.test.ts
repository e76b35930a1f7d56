/** Private copies of images. */
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
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";

import { rejectionOf } from "../../../tests/support/assert.js";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { bytesOnDisk, noise, steps, writeSparse } from "../../../tests/support/snapshots/image.js";
import { type CopyOptions, copyImage } from "../src/local/copy-image.js";
import type { Libc } from "../src/local/libc.js";
import { expectSameFiles } from "./support/compare.js";
import { xfsDisk } from "./support/xfs.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const OLD = "what was there before";

/** What stands in for the C library: parts of it, or nothing for none of it. */
const { standIn } = vi.hoisted(() => ({ standIn: { libc: {} as Partial<Libc> | undefined } }));

vi.mock(import("../src/local/libc.js"), async (original) => {
  const { libc } = await original();
  return {
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
const onXfs = test.skipIf(xfs.refusal !== undefined);
const where = xfs.refusal === undefined ? "XFS" : `XFS, cannot be mounted: ${xfs.refusal}`;

let folders = 0;

/** An empty folder. */
function emptyFolder(): string {
  folders += 1;
  const folder = path(`folder-${folders}`);
  mkdirSync(folder);
  return folder;
}

/** Copies a file, which may be said to have another size than it has. */
async function copy(
  source: string,
  target: string,
  { size = statSync(source).size, ...options }: Partial<CopyOptions> & { size?: number } = {},
) {
  const file = await open(source, "r");
  try {
    const image = { fd: file.fd, size, name: source };
    return await copyImage(image, target, { isDurable: false, ...options });
  } finally {
    await file.close();
  }
}

/** Throws unless a copy is the same as its source, takes no more of the disk, and is private. */
async function expectCopy(source: string, target: string): Promise<void> {
  await expectSameFiles(source, target);
  expect(bytesOnDisk(target)).toBeLessThanOrEqual(bytesOnDisk(source) + 64 * KIB);
  expect(statSync(target).mode & 0o777).toBe(0o600);
}

/** Writes an image of `size` bytes with noise in each stretch. */
function writeImage(target: string, size: number, stretches: Iterable<[number, number]>): void {
  writeSparse(target, size, [], () => Buffer.alloc(0));
  const file = openSync(target, "r+");
  for (const [start, end] of stretches) {
    writeSync(file, noise(`${start}`, Math.min(end, size) - start), 0, undefined, start);
  }
  closeSync(file);
}

/** Waits until something was written to the unfinished file in a folder. Returns its path. */
async function begun(folder: string): Promise<string> {
  for (;;) {
    const [name] = readdirSync(folder);
    if (name !== undefined && bytesOnDisk(join(folder, name)) > 0) return join(folder, name);
    await setImmediate();
  }
}

/** How the image is copied: as it is where holes are known, and where they are not. */
const ways = [
  ["holes are known", {}],
  ["holes are unknown", undefined],
] as const;

describe.each(ways)("%s", (_, libc) => {
  const alternating = (first: number): [number, number][] =>
    [...steps(6 * MIB, 24 * KIB)].map((at) => [at + first, at + first + 8 * KIB]);

  const layouts: Record<string, readonly [size: number, stretches: [number, number][]]> = {
    "nothing at all": [0, []],
    "one byte": [1, [[0, 1]]],
    "a hole alone": [64 * MIB, []],
    "data alone": [5 * MIB, [[0, 5 * MIB]]],
    "a hole first": [8 * MIB, [[5 * MIB, 8 * MIB]]],
    "a hole last": [8 * MIB, [[0, 3 * MIB]]],
    "data and holes in turn": [6 * MIB, alternating(0)],
    "holes and data in turn": [6 * MIB, alternating(8 * KIB)],
    "a size that is no multiple of a block": [3 * MIB + 1001, [[MIB, 3 * MIB + 1001]]],
    "such a size, with a hole last": [3 * MIB + 1001, [[4 * KIB, 12 * KIB]]],
    "data far apart": [
      2 ** 42,
      [
        [2 ** 33, 2 ** 33 + MIB],
        [2 ** 42 - 4 * KIB, 2 ** 42],
      ],
    ],
  };
  // Where holes are unknown, all of them are read.
  const names = Object.keys(layouts).filter((name) => libc || layouts[name]![0] < 2 ** 40);

  test.each(names)("%s", async (name) => {
    standIn.libc = libc;
    const [source, target] = [path("layout"), path("layout copy")];
    writeImage(source, ...layouts[name]!);
    expect(await copy(source, target)).toBe("copy");
    await expectCopy(source, target);
  });

  test("any layout", async () => {
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
      { numRuns: 60 },
    );
  });

  test("to the disk in memory", async () => {
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

  test("a signal that was given before", async () => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("before"), MIB, [[0, MIB]]);
    const signal = AbortSignal.abort(new Error("the caller's own"));
    const copied = copy(path("before"), join(folder, "copy"), { signal });
    expect(await rejectionOf(copied)).toBe(signal.reason);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a signal in the midst of it", async () => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("midst"), 256 * MIB, [[0, 256 * MIB]]);
    const controller = new AbortController();
    const reason = new Error("the caller's own");
    const { signal } = controller;
    const ended = rejectionOf(copy(path("midst"), join(folder, "copy"), { signal }));
    const unfinished = openSync(await begun(folder), "r");
    const before = fstatSync(unfinished).blocks * 512;
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(readdirSync(folder)).toEqual([]);
    // What has begun is waited for, and nothing more is copied.
    expect(fstatSync(unfinished).blocks * 512).toBeLessThan(before + 8 * MIB);
    closeSync(unfinished);
    rmSync(path("midst"));
  });

  const cuts = [
    ["within its data", 2 * MIB],
    ["within the hole at its end", 3.5 * MIB],
    ["to nothing", 0],
  ] as const;

  test.each(cuts)("an image that was cut off %s", async (_, size) => {
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
    ["within the hole at its end", 140 * MIB],
  ] as const;

  test.each(cutsMeanwhile)("an image that is cut off meanwhile %s", async (_, size) => {
    standIn.libc = libc;
    const folder = emptyFolder();
    writeImage(path("cut soon"), 160 * MIB, [[0, 128 * MIB]]);
    const ended = rejectionOf(copy(path("cut soon"), join(folder, "copy")));
    await begun(folder);
    truncateSync(path("cut soon"), size);
    expect(await ended).toMatchObject({ code: "ERR_IMAGE_CHANGED" });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("an image that has grown is copied as far as was said", async () => {
    standIn.libc = libc;
    writeImage(path("grown"), 3 * MIB, [[0, 3 * MIB]]);
    await copy(path("grown"), path("grown copy"), { size: 2 * MIB });
    truncateSync(path("grown"), 2 * MIB);
    await expectCopy(path("grown"), path("grown copy"));
  });
});

describe("targets", () => {
  const source = path("source");
  writeImage(source, 2 * MIB, [[MIB, 2 * MIB]]);

  test.each([true, false])("a file that is there is replaced (durable: %s)", async (isDurable) => {
    const target = path("replaced");
    writeFileSync(target, OLD);
    chmodSync(target, 0o644);
    await copy(source, target, { isDurable });
    await expectCopy(source, target);
  });

  test("a file that is there is left, where that is wanted", async () => {
    const folder = emptyFolder();
    const target = join(folder, "left");
    writeFileSync(target, OLD);
    const error = await rejectionOf(copy(source, target, { overwrite: false }));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_TARGET" });
    expect(readFileSync(target, "utf8")).toBe(OLD);
    expect(readdirSync(folder)).toEqual(["left"]);
  });

  test("a folder that is not there", async () => {
    const error = await rejectionOf(copy(source, path("missing", "copy")));
    expect(error).toMatchObject({ name: "SnapshotError", code: "ERR_TARGET" });
    expect(existsSync(path("missing"))).toBe(false);
  });

  test("an image that cannot be read", async () => {
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
    "where no clone is made, a copy is: %s",
    async (name) => {
      standIn.libc = { clone: async () => -constants.errno[name] };
      expect(await copy(source, path("after refusal"))).toBe("copy");
      await expectCopy(source, path("after refusal"));
    },
  );
});

describe(where, () => {
  onXfs("a clone is made, of which neither follows what is written to the other", async () => {
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

  onXfs(
    "a clone has what was just written, and blocks of its own only once written to",
    async () => {
      const [source, target] = [xfs.path("shared"), xfs.path("shares")];
      writeImage(source, 100 * MIB, [[0, 100 * MIB]]);
      // More than there is room for, if each had blocks of its own.
      for (const count of [1, 2, 3]) expect(await copy(source, `${target}-${count}`)).toBe("clone");
      await expectSameFiles(source, `${target}-3`);
      for (const count of [1, 2, 3]) rmSync(`${target}-${count}`);
      rmSync(source);
    },
  );

  onXfs("a clone is as long as was said", async () => {
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

  onXfs("what is on another disk is copied", async () => {
    writeImage(path("elsewhere"), 9 * MIB, [[MIB, 6 * MIB]]);
    expect(await copy(path("elsewhere"), xfs.path("from elsewhere"))).toBe("copy");
    await expectSameFiles(path("elsewhere"), xfs.path("from elsewhere"));
  });

  onXfs.each(ways)("the disk is full, and %s", async (_, libc) => {
    standIn.libc = libc;
    const folder = xfs.path("full");
    mkdirSync(folder, { recursive: true });
    writeImage(path("too large"), 320 * MIB, [[0, 320 * MIB]]);
    const error = await rejectionOf(copy(path("too large"), join(folder, "copy")));
    expect(error).toMatchObject({
      name: "SnapshotError",
      code: "ERR_TARGET",
      cause: { code: "ENOSPC" },
    });
    expect((error as Error).message).toContain(join(folder, "copy"));
    // Where it is known how much there is, nothing is written first.
    expect((error as Error).message.includes("expected room for")).toBe(libc !== undefined);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(path("too large"));
  });
});
