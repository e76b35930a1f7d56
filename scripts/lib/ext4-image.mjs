// Real disk images: ext4, of files that are installed on the machine.
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { ifReadable, installedFiles } from "./installed-files.mjs";
import { attempt, StepError } from "./run.mjs";

const BLOCK_BYTES = 4096;
const BYTES_PER_INODE = 16384;
/** How much of an image files may fill: the rest is for folders, inodes and the journal. */
const FULLEST = 0.75;
/** How much more than was asked for may be taken: the last file could be a large one. */
const EXCESS = 1.1;
/** The same in every image, so that two of the same files differ little. */
const UUID = "68656467-6572-4f77-8000-000000000000";

/** @typedef {{ imageBytes: number, dataBytes: number }} Sizes */

/**
 * Makes an image of installed files, and returns how many they are, and how many bytes they have.
 *
 * The image is a sparse file: what a kernel can initialise when it first mounts it is left to it.
 * What is gathered for it lies beside it meanwhile.
 *
 * @param {string} path
 * @param {Sizes} sizes of the image, in whole blocks of 4096 bytes; of the files in it, at least
 */
export function makeExt4Image(path, { imageBytes, dataBytes }) {
  const tree = mkdtempSync(`${path}.files-`);
  try {
    const gathered = gather(tree, { imageBytes, dataBytes });
    rmSync(path, { force: true });
    const args = [
      ...["-q", "-t", "ext4", "-b", String(BLOCK_BYTES), "-i", String(BYTES_PER_INODE), "-U", UUID],
      ...["-E", `hash_seed=${UUID},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`],
      ...["-d", tree, path, String(imageBytes / BLOCK_BYTES)],
    ];
    const { status, errors } = attempt("mke2fs", args, { stdout: "pipe" });
    if (status !== 0) throw new StepError(`mke2fs: ${errors}`);
    return gathered;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Throws unless the file system of an image is clean. @param {string} path */
export function checkExt4Image(path) {
  const { status, output, errors } = attempt("e2fsck", ["-f", "-n", path], { stdout: "pipe" });
  if (status !== 0) throw new StepError(`e2fsck: ${path} is not clean\n${output}${errors}`);
}

/**
 * Gathers installed files in a folder until there are enough.
 *
 * @param {string} tree
 * @param {Sizes} sizes
 */
function gather(tree, { imageBytes, dataBytes }) {
  const gathered = { files: 0, dataBytes: 0 };
  const seen = new Set();
  let room = FULLEST * imageBytes;
  for (const { name, path, stats } of installedFiles()) {
    const id = `${stats.dev}:${stats.ino}`;
    // What has two names has its bytes once.
    const bytes = stats.isFile() && !seen.has(id) ? stats.size : 0;
    // Its blocks, or its share of the inodes if that is more.
    const space = Math.max(Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES, BYTES_PER_INODE);
    if (space > room || gathered.dataBytes + bytes > EXCESS * dataBytes) continue;
    const isTaken = ifReadable(() => take(path, stats, join(tree, name))) ?? false;
    if (!isTaken) continue;
    seen.add(id);
    room -= space;
    if (stats.isFile()) gathered.files += 1;
    gathered.dataBytes += bytes;
    if (gathered.dataBytes >= dataBytes) return gathered;
  }
  throw new StepError(
    `expected ${dataBytes} bytes of installed files that fit into ${imageBytes}, found ${gathered.dataBytes}`,
  );
}

/**
 * Puts a file or a symbolic link at another place too.
 *
 * @param {string} path
 * @param {import("node:fs").Stats} stats
 * @param {string} target
 */
function take(path, stats, target) {
  mkdirSync(dirname(target), { recursive: true });
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(path), target);
  } else {
    accessSync(path, constants.R_OK);
    linkOrCopy(path, stats.mode, target);
  }
  return true;
}

/**
 * A hard link takes no time, but there is none to another file system, nor to what others own.
 *
 * @param {string} path
 * @param {number} mode
 * @param {string} target
 */
function linkOrCopy(path, mode, target) {
  try {
    linkSync(path, target);
  } catch (error) {
    const { code = "" } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!["EMLINK", "ENOTSUP", "EPERM", "EXDEV"].includes(code)) throw error;
    copyFileSync(path, target);
    // What only a group could read is ours now.
    chmodSync(target, mode | 0o400);
  }
}
