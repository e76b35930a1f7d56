/** Snapshots restore to the same image, and the same image and options make the same file. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import {
  bytesOnDisk,
  expectSame,
  letters,
  noise,
  steps,
} from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { Random } from "../../edge/test/support/random.js";
import { run } from "./support/job.js";
import { roundTripIn } from "./support/round-trip.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

const path = temporaryFolder();
const roundTrip = roundTripIn(path);

test("writes no frames for an empty image", async () => {
  const info = await roundTrip(Buffer.alloc(0));
  expect(info).toMatchObject({ imageSize: 0, dataSize: 0, dataFrames: 0, holeFrames: 0 });
});

/** Lengths around those of blocks and pieces. `npm test` tries the first ones. */
const LENGTHS = [1, 4096, 4097, MIB, MIB + 1, 4095, 64 * KIB + 1, MIB - 1, 3 * MIB + 12_345];

test.each(LENGTHS.slice(0, trials({ few: 5, all: LENGTHS.length })))(
  "restores %i bytes of data",
  async (length) => {
    const info = await roundTrip(letters("data", length));
    const dataFrames = Math.ceil(length / MIB);
    expect(info).toMatchObject({ dataSize: length, dataFrames, holeFrames: 0 });
  },
);

test.each([1, 4097, 64 * KIB - 1, MIB, 5 * MIB + 5])(
  "writes %i zeros as a hole",
  async (length) => {
    const info = await roundTrip(Buffer.alloc(length));
    expect(info).toMatchObject({ dataSize: 0, dataFrames: 0, holeFrames: 1, diskSize: 0 });
  },
);

test("finds holes of 64 KiB anywhere in a piece", async () => {
  const bytes = letters("data", 3 * MIB);
  for (const start of [0, 256 * KIB, MIB - 32 * KIB, 3 * MIB - 64 * KIB]) {
    bytes.fill(0, start, start + 64 * KIB);
  }
  // The hole across two pieces is too short in each.
  expect(await roundTrip(bytes)).toMatchObject({ holeSize: 192 * KIB, holeFrames: 3 });
});

test("writes shorter holes as data, and restores them as holes", async () => {
  const bytes = letters("data", 256 * KIB);
  for (const start of steps(256 * KIB, 64 * KIB)) bytes.fill(0, start, start + 60 * KIB);
  const info = await roundTrip(bytes);
  expect(info).toMatchObject({ holeSize: 0, dataFrames: 1, diskSize: 16 * KIB });
});

test("restores an image without zeros", async () => {
  const bytes = noise("no zeros", 2 * MIB + 3).map((byte) => byte | 1);
  expect(await roundTrip(Buffer.from(bytes))).toMatchObject({ dataSize: 2 * MIB + 3 });
});

test("adds at most 0.1 % to data that does not compress", async () => {
  const { fileSize } = await roundTrip(noise("random", 8 * MIB));
  expect(fileSize).toBeLessThanOrEqual(8 * MIB * 1.001);
});

test("restores any blocks of data and zeros, with any options", async () => {
  const random = new Random(4);
  const rounds = trials({ few: 3, all: 20 });
  for (let round = 0; round < rounds; round += 1) {
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

// No hole starts or ends at the edge of a piece.
const bytes = Buffer.concat([
  letters("first", 2 * MIB + 12 * KIB),
  Buffer.alloc(2 * MIB + 200 * KIB),
  noise("last", MIB + 9),
]);

describe("the same image", () => {
  let [file, digest] = [Buffer.alloc(0), ""];

  beforeAll(async () => {
    writeFileSync(path("full"), bytes);
    ({ file, digest } = await roundTrip(bytes));
  });

  test("writes the same file with any number of threads", async () => {
    for (const workers of [3, 2, 5].slice(0, trials({ few: 1, all: 3 })))
      expectSame((await roundTrip(bytes, { workers })).file, file);
  });

  test("writes the same file for holes and for zeros", async () => {
    const [full, sparse] = [path("full"), path("with holes")];
    execFileSync("cp", ["--sparse=always", full, sparse]);
    expect(bytesOnDisk(sparse)).toBeLessThan(bytesOnDisk(full));
    await createSnapshot(sparse, path("other.vhs"), { workers: 1 });
    expectSame(readFileSync(path("other.vhs")), file);
  });

  test("writes the same file if the system cannot report holes", async () => {
    const [source, target] = [path("with holes"), path("all read.vhs")];
    execFileSync("cp", ["--sparse=always", path("full"), source]);
    const job = { call: "createSnapshot", source, target } as const;
    expect(await run(job, { preload: "no-extents" })).toMatchObject({ error: null });
    expectSame(readFileSync(target), file);
  });

  test("writes a different file for a different piece size or level", async () => {
    for (const options of [{ level: 4 }, { pieceSize: 512 * KIB }]) {
      const other = await roundTrip(bytes, options);
      expect(other.digest).not.toBe(digest);
      expect(other.file.equals(file)).toBe(false);
    }
  });
});
