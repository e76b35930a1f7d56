/** Images and options at the edges of what there is. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  type ReadOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import {
  bytesOnDisk,
  expectSame,
  letters,
  noise,
  steps,
  writeSparse,
} from "../../../tests/support/snapshots/image.js";
import { Random } from "../../edge/test/support/random.js";
import { expectSameBytes } from "./support/compare.js";
import { type Extent, extentsOf } from "./support/extents.js";
import { run } from "./support/job.js";
import { refusalOf } from "./support/refusal.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const path = temporaryFolder();

/** Makes a snapshot of the bytes, has it restored by us and by zstd, and says what is in it. */
async function roundTrip(bytes: Buffer, options: CreateOptions = {}) {
  const [image, snapshot, restored] = [path("image"), path("snapshot.vhs"), path("restored")];
  writeFileSync(image, bytes);
  const { duration, ...info } = await createSnapshot(image, snapshot, options);
  const again = await restoreSnapshot(snapshot, restored, options);
  const file = readFileSync(snapshot);

  expect(duration).toBeGreaterThan(0);
  expect(again).toEqual({ ...info, duration: again.duration });
  expect(again.duration).toBeGreaterThan(0);
  expect(await verifySnapshot(snapshot, options)).toEqual(info);
  expect(await inspectSnapshot(snapshot)).toEqual(info);
  expect(info).toMatchObject({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    imageSize: bytes.length,
    holeSize: bytes.length - info.dataSize,
    fileSize: file.length,
    pieceSize: options.pieceSize ?? MIB,
  });
  expectSame(readFileSync(restored), bytes);
  const maxBuffer = 2 * bytes.length + KIB;
  const plain = execFileSync("zstd", ["-d", "-c", snapshot], { maxBuffer, stdio: "pipe" });
  expectSame(plain, bytes);
  return { ...info, diskSize: bytesOnDisk(restored), file };
}

describe("images", () => {
  test("an empty one has no frames", async () => {
    const info = await roundTrip(Buffer.alloc(0));
    expect(info).toMatchObject({ imageSize: 0, dataSize: 0, dataFrames: 0, holeFrames: 0 });
  });

  test.each([1, 4095, 4096, 4097, 64 * KIB + 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 12_345])(
    "%i bytes of data",
    async (length) => {
      const info = await roundTrip(letters("data", length));
      const dataFrames = Math.ceil(length / MIB);
      expect(info).toMatchObject({ dataSize: length, dataFrames, holeFrames: 0 });
    },
  );

  test.each([1, 4097, 64 * KIB - 1, MIB, 5 * MIB + 5])("%i zeros are a hole", async (length) => {
    const info = await roundTrip(Buffer.alloc(length));
    expect(info).toMatchObject({ dataSize: 0, dataFrames: 0, holeFrames: 1, diskSize: 0 });
  });

  test("holes of 64 KiB are found, wherever they are", async () => {
    const bytes = letters("data", 3 * MIB);
    for (const start of [0, 256 * KIB, MIB - 32 * KIB, 3 * MIB - 64 * KIB]) {
      bytes.fill(0, start, start + 64 * KIB);
    }
    // The one between two pieces has too little in each.
    expect(await roundTrip(bytes)).toMatchObject({ holeSize: 192 * KIB, holeFrames: 3 });
  });

  test("smaller holes are no frames, and holes of the restored image all the same", async () => {
    const bytes = letters("data", 256 * KIB);
    for (const start of steps(256 * KIB, 64 * KIB)) bytes.fill(0, start, start + 60 * KIB);
    const info = await roundTrip(bytes);
    expect(info).toMatchObject({ holeSize: 0, dataFrames: 1, diskSize: 16 * KIB });
  });

  test("no byte is zero", async () => {
    const bytes = noise("no zeros", 2 * MIB + 3).map((byte) => byte | 1);
    expect(await roundTrip(Buffer.from(bytes))).toMatchObject({ dataSize: 2 * MIB + 3 });
  });

  test("what does not compress grows by 0.1 % at most", async () => {
    const { fileSize } = await roundTrip(noise("random", 8 * MIB));
    expect(fileSize).toBeLessThanOrEqual(8 * MIB * 1.001);
  });

  test("any blocks of data and zeros, with any options", async () => {
    const random = new Random(4);
    for (let round = 0; round < 20; round += 1) {
      const bytes = letters(`any ${round}`, random.below(600 * KIB));
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(at + 4 * KIB * (1 + random.below(40)), bytes.length);
        if (random.below(2) === 0) bytes.fill(0, at, end);
        at = end;
      }
      await roundTrip(bytes, {
        workers: 1 + random.below(3),
        level: 1 + random.below(5),
        pieceSize: 4 * KIB * 2 ** random.below(6),
      });
    }
  });
});

describe("sparse images", () => {
  /** All bytes that this process, its threads included, has read and written by system calls. */
  function bytesReadAndWritten(): number {
    const counts = readFileSync("/proc/self/io", "utf8").matchAll(/^[rw]char: (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Makes a snapshot of a sparse file, and has it restored. */
  async function sparseTrip(image: string) {
    const [snapshot, restored] = [path("sparse.vhs"), path("restored")];
    // First of all: without extents, the rest would take long.
    const extents = await extentsOf(image);
    const before = bytesReadAndWritten();
    const { duration: _, ...info } = await createSnapshot(image, snapshot);
    expect(await inspectSnapshot(snapshot)).toEqual(info);
    await restoreSnapshot(snapshot, restored);
    const moved = bytesReadAndWritten() - before;
    expect(statSync(restored).size).toBe(statSync(image).size);
    expect(await extentsOf(restored)).toEqual(extents);
    return { ...info, moved, restored, extents };
  }

  function expectSameExtents(image: string, other: string, extents: readonly Extent[]): void {
    const [one, two] = [openSync(image, "r"), openSync(other, "r")];
    for (const { start, end } of extents) {
      const [expected, found] = [Buffer.alloc(end - start), Buffer.alloc(end - start)];
      readSync(one, expected, 0, expected.length, start);
      readSync(two, found, 0, found.length, start);
      expectSame(found, expected);
    }
  }

  test("of 64 GiB with 64 extents, no more is read and written than the pieces that they are in", async () => {
    const image = path("64 GiB");
    const offsets = [...steps(63 * GIB, GIB), 64 * GIB - 12 * KIB];
    writeSparse(image, 64 * GIB, offsets, (offset) => letters(`at ${offset}`, 12 * KIB));
    const { moved, restored, extents, ...info } = await sparseTrip(image);
    expect(info).toMatchObject({ imageSize: 64 * GIB, dataSize: 64 * 12 * KIB, dataFrames: 64 });
    expect(info.fileSize).toBeLessThan(4 * MIB);
    expectSameExtents(image, restored, extents);
    // A piece of 1 MiB for each, and not much besides.
    expect(moved).toBeLessThan(128 * MIB);
  });

  test("thousands of tiny extents", async () => {
    const image = path("tiny extents");
    const bytes = (offset: number) => letters(`at ${offset}`, 4 * KIB);
    writeSparse(image, 640 * MIB, steps(640 * MIB, 128 * KIB), bytes);
    const { restored, ...info } = await sparseTrip(image);
    expect(info).toMatchObject({ dataSize: 20 * MIB, dataFrames: 5120, holeFrames: 5120 });
    expectSameBytes(image, restored);
  });

  test("a hole at the end, one at the beginning, and nothing but a hole", async () => {
    for (const [name, offsets] of Object.entries({ end: [0], begin: [9 * MIB], all: [] })) {
      writeSparse(path(name), 10 * MIB, offsets, () => letters(name, MIB));
      const { restored } = await sparseTrip(path(name));
      expectSameBytes(path(name), restored);
    }
  });

  test("an image beyond 16 TiB is refused as one", async () => {
    // Only some file systems have files so large.
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
});

describe("options", () => {
  const image = path("options");
  const bytes = letters("options", 100 * KIB);
  beforeAll(() => writeFileSync(image, bytes));

  test.each([
    { level: 1 },
    { level: 19 },
    { pieceSize: 4 * KIB },
    { pieceSize: 16 * MIB },
    { workers: 1 },
    { workers: 256 },
  ])("%j is right", async (options) => {
    await roundTrip(bytes, options);
  });

  test("a piece of 16 MiB is one frame", async () => {
    const info = await roundTrip(letters("large", 17 * MIB), { pieceSize: 16 * MIB });
    expect(info).toMatchObject({ dataFrames: 2, pieceSize: 16 * MIB });
  });

  test.each([
    { level: 0 },
    { level: 20 },
    { level: -1 },
    { level: 2.5 },
    { level: Number.NaN },
    { level: 2 ** 40 },
    { level: "3" },
    { pieceSize: 0 },
    { pieceSize: 2 * KIB },
    { pieceSize: 12_345 },
    { pieceSize: 32 * MIB },
    { pieceSize: 2 ** 32 + 4096 },
    { pieceSize: -4096 },
    { pieceSize: Number.NaN },
    { workers: 0 },
    { workers: 257 },
    { workers: 1.5 },
    { workers: -1 },
    { workers: Number.NaN },
    { workers: Number.POSITIVE_INFINITY },
    { workers: "2" },
    { signal: {} },
    { signal: null },
    { onProgress: "often" },
  ])("%o is refused", async (options) => {
    const wrong = options as CreateOptions;
    const [option] = Object.keys(options);
    const error = await refusalOf(createSnapshot(image, path("no.vhs"), wrong), "ERR_ARGUMENT");
    expect(error.message).toMatch(option === "pieceSize" ? /^piece ?size: /i : `${option}: `);
    if (typeof options.level === "number") {
      expect(error.message).toBe(
        `level: expected a whole number from 1 to 19, found ${options.level}`,
      );
    }
    expect(error.message).toMatch(/expected .*, found /);
    expect(leftovers(path())).toEqual([]);
    expect(() => statSync(path("no.vhs"))).toThrow("ENOENT");
  });

  test.each([null, "options", 3])("%j are no options", async (options) => {
    const wrong = options as CreateOptions & ReadOptions;
    await refusalOf(createSnapshot(image, path("no.vhs"), wrong), "ERR_ARGUMENT");
    await refusalOf(restoreSnapshot(path("no.vhs"), path("no"), wrong), "ERR_ARGUMENT");
    await refusalOf(inspectSnapshot(path("no.vhs"), wrong), "ERR_ARGUMENT");
  });

  test("as many threads as nobody has are refused by reading, too", async () => {
    await roundTrip(bytes);
    const options = { workers: 257 };
    const snapshot = path("snapshot.vhs");
    await refusalOf(restoreSnapshot(snapshot, path("no"), options), "ERR_ARGUMENT");
    await refusalOf(verifySnapshot(snapshot, options), "ERR_ARGUMENT");
  });
});

describe("the same image and options give the same file", () => {
  // No hole begins or ends where a piece does.
  const bytes = Buffer.concat([
    letters("first", 5 * MIB + 12 * KIB),
    Buffer.alloc(7 * MIB + 200 * KIB),
    noise("last", 2 * MIB + 9),
  ]);

  test("whatever the number of threads", async () => {
    const files = [];
    for (const workers of [1, 2, 5]) files.push((await roundTrip(bytes, { workers })).file);
    expectSame(files[1]!, files[0]!);
    expectSame(files[2]!, files[0]!);
  });

  test("whether the file has holes, or zeros", async () => {
    const { file } = await roundTrip(bytes);
    const [full, sparse] = [path("image"), path("with holes")];
    execFileSync("cp", ["--sparse=always", full, sparse]);
    expect(bytesOnDisk(sparse)).toBeLessThan(bytesOnDisk(full));
    await createSnapshot(sparse, path("other.vhs"));
    expectSame(readFileSync(path("other.vhs")), file);
  });

  test("whether the system can tell holes, or all is read", async () => {
    const { file } = await roundTrip(bytes);
    const [source, target] = [path("with holes"), path("all read.vhs")];
    execFileSync("cp", ["--sparse=always", path("image"), source]);
    const job = { call: "createSnapshot", source, target } as const;
    expect(await run(job, { preload: "no-extents" })).toMatchObject({ error: null });
    expectSame(readFileSync(target), file);
  });

  test("while another piece size or level gives another one", async () => {
    const { file, digest } = await roundTrip(bytes);
    for (const options of [{ level: 4 }, { pieceSize: 512 * KIB }]) {
      const other = await roundTrip(bytes, options);
      expect(other.digest).not.toBe(digest);
      expect(other.file.equals(file)).toBe(false);
    }
  });
});

describe("places", () => {
  const [image, snapshot] = [path("place image"), path("place.vhs")];
  const bytes = letters("places", 10 * KIB);

  beforeAll(async () => {
    writeFileSync(image, bytes);
    await createSnapshot(image, snapshot);
    mkdirSync(path("folder"));
    execFileSync("mkfifo", [path("pipe")]);
    symlinkSync(path("missing"), path("link to nothing"));
  });

  test("a file: URL is a path", async () => {
    const named = path("näme with % and #.vhs");
    await createSnapshot(image, pathToFileURL(named));
    expectSame(readFileSync(named), readFileSync(snapshot));
    await verifySnapshot(pathToFileURL(named));
    await restoreSnapshot(pathToFileURL(named).href, path("by URL"));
    expectSame(readFileSync(path("by URL")), bytes);
  });

  test.each([
    "ftp://user:secret@example.com/a.vhs?token=secret",
    "s3://secret:secret@bucket/a.vhs",
    "file://user:secret@example.com/a.vhs",
    "file://example.com/a.vhs?token=secret",
    "file:///a%2Fb.vhs?token=secret",
    "file:///a%00b.vhs?token=secret",
    "http://[secret",
  ])("%s is refused, and what is secret in it is not told", async (url) => {
    const urls = URL.canParse(url) ? [url, new URL(url)] : [url];
    for (const place of urls) {
      for (const act of [
        () => createSnapshot(image, place),
        () => restoreSnapshot(place, path("no")),
        () => inspectSnapshot(place),
        () => verifySnapshot(place),
      ]) {
        const error = await refusalOf(act(), "ERR_ARGUMENT");
        expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain("secret");
      }
    }
  });

  test.each(["", "a\0b", undefined, null, 3])("%j is no path", async (place) => {
    const wrong = place as string;
    await refusalOf(createSnapshot(wrong, path("no")), "ERR_ARGUMENT");
    await refusalOf(createSnapshot(image, wrong), "ERR_ARGUMENT");
    await refusalOf(restoreSnapshot(wrong, path("no")), "ERR_ARGUMENT");
    await refusalOf(restoreSnapshot(snapshot, wrong), "ERR_ARGUMENT");
    await refusalOf(inspectSnapshot(wrong), "ERR_ARGUMENT");
  });

  test("a snapshot does not take the place of its image, by whatever name", async () => {
    symlinkSync(image, path("link to image"));
    for (const place of [image, path("folder", "..", "place image"), path("link to image")]) {
      await refusalOf(createSnapshot(image, place), "ERR_ARGUMENT");
    }
    expectSame(readFileSync(image), bytes);
  });

  test("an image does not take the place of its snapshot, by whatever name", async () => {
    const before = readFileSync(snapshot);
    symlinkSync(snapshot, path("link to snapshot"));
    for (const place of [snapshot, path("link to snapshot")]) {
      await refusalOf(restoreSnapshot(snapshot, place), "ERR_ARGUMENT");
    }
    expectSame(readFileSync(snapshot), before);
  });

  const unreadable: readonly [string, () => string][] = [
    ["nothing", () => path("missing")],
    ["a folder", () => path("folder")],
    ["a device", () => "/dev/zero"],
    ["a pipe", () => path("pipe")],
    ["what is in no folder", () => path("place image", "image")],
  ];

  test.each(unreadable)("%s is neither image nor snapshot", async (_, place) => {
    const error = await refusalOf(createSnapshot(place(), path("no")), "ERR_IMAGE");
    expect(error.message).toContain(place());
    await refusalOf(restoreSnapshot(place(), path("no")), "ERR_SOURCE");
    await refusalOf(verifySnapshot(place()), "ERR_SOURCE");
    await refusalOf(inspectSnapshot(place()), "ERR_SOURCE");
    expect(() => statSync(path("no"))).toThrow("ENOENT");
  });

  const unwritable: readonly [string, () => string][] = [
    ["a folder", () => path("folder")],
    ["a device", () => "/dev/null"],
    ["a pipe", () => path("pipe")],
    ["what is in a folder that is missing", () => path("missing", "target")],
    ["what is in a file", () => path("place image", "target")],
    ["a link to nothing", () => path("link to nothing")],
  ];

  test.each(unwritable)("%s is no target", async (_, place) => {
    const error = await refusalOf(createSnapshot(image, place()), "ERR_TARGET");
    expect(error.message).toContain(place());
    await refusalOf(restoreSnapshot(snapshot, place()), "ERR_TARGET");
    expect(leftovers(path())).toEqual([]);
  });

  test("what is in the way stays", () => {
    expect(statSync(path("folder")).isDirectory()).toBe(true);
    expect(lstatSync(path("link to nothing")).isSymbolicLink()).toBe(true);
    expect(statSync(path("pipe")).isFIFO()).toBe(true);
  });

  test("a link to the target is followed, and stays a link", async () => {
    for (const [name, make] of Object.entries({
      "target.vhs": (to: string) => createSnapshot(image, to),
      target: (to: string) => restoreSnapshot(snapshot, to),
    })) {
      writeFileSync(path("folder", name), "old");
      const link = path(`link to ${name}`);
      symlinkSync(path("folder", name), link);
      await make(link);
      expect(readlinkSync(link)).toBe(path("folder", name));
      expect(lstatSync(path("folder", name)).isFile()).toBe(true);
    }
    expectSame(readFileSync(path("folder", "target.vhs")), readFileSync(snapshot));
    expectSame(readFileSync(path("folder", "target")), bytes);
    expect(leftovers(path("folder"))).toEqual([]);
  });

  test("only the owner may read what is made, also in place of what others could read", async () => {
    const before = process.umask(0);
    try {
      writeFileSync(path("old"), "old");
      chmodSync(path("old"), 0o644);
      await createSnapshot(image, path("new.vhs"));
      await restoreSnapshot(snapshot, path("new"));
      await restoreSnapshot(snapshot, path("old"));
    } finally {
      process.umask(before);
    }
    for (const name of ["new.vhs", "new", "old"]) {
      expect(statSync(path(name)).mode & 0o777, name).toBe(0o600);
    }
  });

  test("what is replaced stays whole for those who have it open", async () => {
    writeFileSync(path("held"), "old");
    const held = await open(path("held"), "r");
    try {
      await restoreSnapshot(snapshot, path("held"));
      expect(await held.readFile("utf8")).toBe("old");
      expectSame(readFileSync(path("held")), bytes);
    } finally {
      await held.close();
    }
  });
});
