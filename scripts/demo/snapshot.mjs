// A disk of installed files, as a snapshot and back, by Hedgerow and by plain zstd.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";

import { checkExt4Image, makeExt4Image } from "../lib/ext4-image.mjs";
import { attempt, run, StepError, step } from "../lib/run.mjs";
import { printTable } from "../lib/table.mjs";

const SIZES = { imageBytes: 2 ** 30, dataBytes: 300e6 };

export async function demonstrateSnapshot() {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-demo-"));
  try {
    await demonstrateIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} folder */
async function demonstrateIn(folder) {
  const image = join(folder, "disk.ext4");
  const snapshot = join(folder, "disk.vhs");
  const restored = join(folder, "restored.ext4");
  const unpacked = join(folder, "unpacked.ext4");

  step("an ext4 image of installed files (a few seconds)");
  const { files } = makeExt4Image(image, SIZES);

  step("its snapshot, and the image back from it");
  const creating = await timed(() => createSnapshot(image, snapshot));
  const { digest, imageSize, dataSize, fileSize, dataFrames } = await inspectSnapshot(snapshot);
  const restoring = await timed(() => restoreSnapshot(snapshot, restored, { digest }));
  const verifying = await timed(() => verifySnapshot(snapshot, { digest }));

  step("the same by zstd alone");
  const unpacking = await timed(() => {
    run("zstd", ["-d", "--sparse", "-q", snapshot, "-o", unpacked]);
    run("sync", [unpacked]);
  });

  step("comparing, and e2fsck");
  const copies = [restored, unpacked];
  const differing = copies.filter((copy) => attempt("cmp", [image, copy]).status !== 0).length;
  for (const copy of copies) checkExt4Image(copy);

  printTable([
    ["files in the image", files],
    ["size of the image, in MB", megabytes(imageSize)],
    ["  of its data", megabytes(dataSize)],
    ["  of the snapshot", megabytes(fileSize)],
    ["frames of data", dataFrames],
    ["to make the snapshot, in ms", creating],
    ["to restore it, and have it on the disk, in ms", restoring],
    ["  by zstd -d --sparse", unpacking],
    ["to verify it, in ms", verifying],
    ["blocks of the image, in MB", blocks(image)],
    ["  of the restored one", blocks(restored)],
    ["restored images that differ", differing],
  ]);
  if (differing > 0) throw new StepError("expected the image, found another one");
}

/** How long an action takes, in milliseconds. @param {() => unknown} action */
async function timed(action) {
  const start = performance.now();
  await action();
  return Math.round(performance.now() - start);
}

/** @param {number} bytes */
const megabytes = (bytes) => Math.round(bytes / 1e6);

/** What a file takes on the disk, in MB. @param {string} path */
const blocks = (path) => megabytes(statSync(path).blocks * 512);
