/** A real image: an ext4 file system of 4 GiB, of which more than 1 GB is data. */
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
import { beforeAll, describe, expect, test, vi } from "vitest";

import { checkExt4Image, makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { pythonEnv } from "../../../scripts/lib/python.mjs";
import { temporaryFolder } from "../../support/snapshots/folder.js";
import { bytesOnDisk } from "../../support/snapshots/image.js";
import { run } from "../../support/snapshots/job.js";

const GIB = 2 ** 30;

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const path = temporaryFolder();
const [image, snapshot, restored] = [path("image"), path("image.vhs"), path("restored")];

let info: SnapshotInfo;

beforeAll(async () => {
  makeExt4Image(image, { imageBytes: 4 * GIB, dataBytes: 1.05e9 });
  const { duration: _, ...made } = await createSnapshot(image, snapshot, { workers: 2 });
  info = made;
});

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest("hex");
}

/** Throws unless two files are the same, byte for byte. */
function compare(one: string, other: string): void {
  execFileSync("cmp", [one, other]);
}

test("the image is what it is said to be, and its snapshot much smaller", () => {
  expect(info.imageSize).toBe(4 * GIB);
  expect(info.dataSize).toBeGreaterThan(1e9);
  expect(info.dataSize).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
  expect(info.fileSize).toBe(statSync(snapshot).size);
  expect(info.fileSize).toBeLessThan(info.dataSize / 2);
});

describe("restored", () => {
  beforeAll(() => restoreSnapshot(snapshot, restored, { digest: info.digest }));

  test("every byte is what it was", () => compare(image, restored));

  test("it takes no more of the disk, but for 1 %", () => {
    expect(bytesOnDisk(restored)).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
  });

  test("its file system is clean", () => checkExt4Image(restored));
});

test("verifying finds nothing", async () => {
  expect(await verifySnapshot(snapshot, { digest: info.digest })).toEqual(info);
  expect(await inspectSnapshot(snapshot)).toEqual(info);
});

describe("zstd does not know of snapshots, but", () => {
  test("it lists their frames", () => {
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

  test("it finds no fault in them", () => {
    execFileSync("zstd", ["-t", "-q", snapshot]);
  });

  test("it restores the same bytes, and the holes", () => {
    const plain = path("restored by zstd");
    execFileSync("zstd", ["-d", "-q", "--sparse", snapshot, "-o", plain]);
    compare(image, plain);
    expect(bytesOnDisk(plain)).toBeLessThanOrEqual(bytesOnDisk(image) * 1.01);
    rmSync(plain);
  });
});

test("pyzstd reads 1,000 pieces here and there", () => {
  const script = fileURLToPath(new URL("../../support/snapshots/read-pieces.py", import.meta.url));
  const env = { ...process.env, ...pythonEnv() };
  const args = [script, snapshot, image, "1000", "4"];
  const withData = execFileSync("python3", args, { env, encoding: "utf8" });
  expect(Number(withData)).toBeGreaterThan(200);
});

describe("the same image gives the same file", () => {
  let digest: string;

  beforeAll(async () => {
    digest = await digestOf(snapshot);
  });

  test.each([1, 5])("by %i threads as by 2", async (workers) => {
    const again = path("again.vhs");
    await createSnapshot(image, again, { workers });
    expect(await digestOf(again)).toBe(digest);
  });

  test("where the system cannot tell the holes, which are read then", async () => {
    const target = path("all read.vhs");
    const job = { call: "createSnapshot", source: image, target } as const;
    expect(await run(job, { preload: "no-extents" })).toMatchObject({ error: null });
    expect(await digestOf(target)).toBe(digest);
  });
});
