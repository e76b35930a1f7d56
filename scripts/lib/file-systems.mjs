// Makes file systems: realistic ext4 images with files installed on the machine, and XFS, where files can share blocks.
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
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { ifReadable, installedFiles } from "./installed-files.mjs";
import { attempt, output, run, StepError } from "./run.mjs";

const BLOCK_BYTES = 4096;
const BYTES_PER_INODE = 16384;
/** Share of an image for files; the rest is for directories, inodes and the journal. */
const FULLEST = 0.75;
/** Maximum excess over the requested bytes: the last file may be large. */
const EXCESS = 1.1;
/** Fixed for every image, so that two images of the same files are nearly identical. */
const UUID = "68656467-6572-4f77-8000-000000000000";

/** @typedef {{ imageBytes: number, dataBytes: number }} Sizes */

/**
 * Creates an image of installed files and returns their number and size in bytes.
 *
 * The image is a sparse file, with lazy initialisation left to the kernel that first mounts it. A staging
 * folder lies beside it meanwhile.
 *
 * @param {string} path
 * @param {Sizes} sizes of the image, in whole blocks of 4096 bytes; of the files in it, at least
 * @param {(tree: string) => void} [add] adds more files to the staging folder. Those in it may be hard links: replace
 *   them, but do not write to them
 */
export function makeExt4Image(path, { imageBytes, dataBytes }, add = () => {}) {
  const tree = mkdtempSync(`${path}.files-`);
  try {
    const gathered = gather(tree, { imageBytes, dataBytes });
    add(tree);
    rmSync(path, { force: true });
    const args = [
      ...["-q", "-t", "ext4", "-b", String(BLOCK_BYTES), "-i", String(BYTES_PER_INODE), "-U", UUID],
      ...["-E", `hash_seed=${UUID},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`],
      ...["-d", tree, path, String(imageBytes / BLOCK_BYTES)],
    ];
    output("mke2fs", args);
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
 * Collects installed files in a folder until their size suffices.
 *
 * @param {string} tree
 * @param {Sizes} sizes
 */
export function gather(tree, { imageBytes, dataBytes }) {
  const gathered = { files: 0, dataBytes: 0 };
  const seen = new Set();
  let room = FULLEST * imageBytes;
  for (const { name, path, stats } of installedFiles()) {
    const id = `${stats.dev}:${stats.ino}`;
    // Hard links share their bytes.
    const bytes = stats.isFile() && !seen.has(id) ? stats.size : 0;
    // The larger of its blocks and its share of the inodes.
    const space = Math.max(Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES, BYTES_PER_INODE);
    if (space > room || gathered.dataBytes + bytes > EXCESS * dataBytes) continue;
    const isTaken = ifReadable(() => {
      take(path, stats, join(tree, name));
      return true;
    });
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
 * Puts a file or a symbolic link into another place: hard-linked, or copied if it is on another file system or belongs
 * to another user.
 *
 * @param {string} path
 * @param {import("node:fs").Stats} stats
 * @param {string} target
 */
function take(path, stats, target) {
  mkdirSync(dirname(target), { recursive: true });
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(path), target);
    return;
  }
  accessSync(path, constants.R_OK);
  try {
    linkSync(path, target);
  } catch {
    copyFileSync(path, target);
    // The copy may have been readable by its group only.
    chmodSync(target, stats.mode | 0o400);
  }
}

/**
 * Creates an XFS disk in a sparse file and mounts it. Returns the reason if it cannot be mounted. XFS needs
 * at least 300 MiB.
 *
 * @param {string} image
 * @param {string} folder
 * @param {number} size in bytes
 */
export function mountXfs(image, folder, size) {
  if (process.platform !== "linux") return "not on Linux";
  if (process.getuid?.() !== 0) return "not root";
  writeFileSync(image, "");
  truncateSync(image, size);
  run("mkfs.xfs", ["-q", "-m", "reflink=1", image]);
  const mounted = attempt("mount", ["-o", "loop", image, folder]);
  return mounted.status === 0 ? undefined : mounted.errors.trim();
}
