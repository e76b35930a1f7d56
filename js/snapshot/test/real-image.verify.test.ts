/** A real image: an ext4 file system, a quarter of which is data. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, rmSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { checkExt4Image, makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { pythonEnv } from "../../../scripts/lib/python.mjs";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { bytesOnDisk } from "../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../tests/support/trials.js";
import { expectSameBytes } from "./support/compare.js";
import { run } from "./support/job.js";

const GIB = 2 ** 30;

/** The size of the image, and of the files in it, in bytes. */
const SIZE = trials({ few: (3 * GIB) / 16, all: GIB });
const FILES = 0.25 * SIZE;

/** How many pieces an independent reader reads. */
const PIECES = trials({ few: 40, all: 300 });

const path = temporaryFolder();
const [image, snapshot, restored] = [path("image"), path("image.vhs"), path("restored")];

let info: SnapshotInfo;

// With all trials, the image is large.
beforeAll(
  async () => {
    makeExt4Image(image, { imageBytes: SIZE, dataBytes: FILES });
    const { duration: _, ...made } = await createSnapshot(image, snapshot, { workers: 2 });
    info = made;
  },
  minutes({ all: 3 }).timeout,
);

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest("hex");
}

test("the snapshot reports the size of the image, and is less than half as large as its data", () => {
  expect(info.imageSize).toBe(SIZE);
  expect(info.dataSize).toBeGreaterThan(0.95 * FILES);
  expect(info.dataSize).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
  expect(info.fileSize).toBe(statSync(snapshot).size);
  expect(info.fileSize).toBeLessThan(info.dataSize / 2);
});

describe("restored", () => {
  beforeAll(
    () => restoreSnapshot(snapshot, restored, { digest: info.digest }),
    minutes({ all: 2 }).timeout,
  );

  test("the restored image equals the original", () => expectSameBytes(image, restored));

  test("the restored image takes up to 1 % more disk space than the original", () => {
    expect(bytesOnDisk(restored)).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
  });

  test("the restored file system is clean", () => checkExt4Image(restored));
});

test("verifying the snapshot finds no damage", async () => {
  expect(await verifySnapshot(snapshot, { digest: info.digest })).toEqual(info);
  expect(await inspectSnapshot(snapshot)).toEqual(info);
});

describe("zstd", () => {
  test("zstd lists the frames of a snapshot", () => {
    const listed = execFileSync("zstd", ["-l", "-v", snapshot], {
      encoding: "utf8",
      stdio: "pipe",
    });
    expect(listed).toMatch(
      new RegExp(`^# Zstandard Frames: ${info.dataFrames + info.holeFrames}$`, "m"),
    );
    expect(listed).toMatch(/^# Skippable Frames: 3$/m);
    expect(listed).toContain(`(${info.imageSize} B)`);
  });

  test("zstd tests a snapshot without errors", () => {
    execFileSync("zstd", ["-t", "-q", snapshot]);
  });

  test("zstd restores the same bytes and holes", () => {
    const plain = path("restored by zstd");
    execFileSync("zstd", ["-d", "-q", "--sparse", snapshot, "-o", plain]);
    expectSameBytes(image, plain);
    expect(bytesOnDisk(plain)).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
    rmSync(plain);
  });
});

// Python takes long for a thousand pieces.
test(`pyzstd reads ${PIECES} random pieces`, minutes({ all: 2 }), () => {
  const script = fileURLToPath(new URL("./support/read-pieces.py", import.meta.url));
  const env = { ...process.env, ...pythonEnv() };
  const args = [script, snapshot, image, `${PIECES}`, "4"];
  const withData = execFileSync("python3", args, { env, encoding: "utf8" });
  expect(Number(withData)).toBeGreaterThan(PIECES / 5);
});

/** A smaller image suffices: it still has many pieces for each worker. */
describe("determinism", () => {
  const source = path("smaller image");
  let digest: string;

  beforeAll(async () => {
    const first = path("first.vhs");
    makeExt4Image(source, {
      imageBytes: trials({ few: GIB / 8, all: GIB / 2 }),
      dataBytes: trials({ few: 2e7, all: 1e8 }),
    });
    await createSnapshot(source, first, { workers: 2 });
    digest = await digestOf(first);
  });

  test.each([1, 5])("%i workers create the same file as 2", async (workers) => {
    const again = path("again.vhs");
    await createSnapshot(source, again, { workers });
    expect(await digestOf(again)).toBe(digest);
  });

  test("creates the same file where the system does not report holes", async () => {
    const target = path("all read.vhs");
    const job = { call: "createSnapshot", source, target } as const;
    expect(await run(job, { preload: "no-extents" })).toMatchObject({ error: null });
    expect(await digestOf(target)).toBe(digest);
  });
});
