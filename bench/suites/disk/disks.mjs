// Opens disks for a measurement.
import { execFile } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { openSnapshot } from "../../../js/snapshot/dist/index.js";
import { NODE } from "../../harness/results.mjs";
import { WORKERS } from "../restore/suite.mjs";

export const SUITE = `disk-${NODE}`;

/**
 * Returns the subject of results.
 *
 * @param {string} quantity
 * @param {string} workload
 * @param {string} [unit]
 * @returns {import("../../harness/results.mjs").About}
 */
export const about = (quantity, workload, unit = "ms") => ({
  suite: `${SUITE}, ${quantity}`,
  ...{ workload, unit },
});

/** @typedef {import("../../../js/snapshot/dist/index.js").Disk} Disk */
/** @typedef {Partial<import("../../../js/snapshot/dist/index.js").OpenOptions>} Options */

/** Runs a program while this process serves a disk. */
export const execute = promisify(execFile);

/**
 * Runs an action in a new folder, and removes it afterwards.
 *
 * @template Made
 * @param {string} parent
 * @param {(folder: string) => Promise<Made>} action
 */
export async function inNewFolder(parent, action) {
  const folder = mkdtempSync(join(parent, "run-"));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Opens a disk in a folder, and closes it afterwards.
 *
 * @template Made
 * @param {string} folder
 * @param {string} source
 * @param {Options} options
 * @param {(disk: Disk) => Promise<Made>} use
 */
export async function withDisk(folder, source, options, use) {
  const image = join(folder, "image");
  const disk = await openSnapshot(source, { image, workers: WORKERS, ...options });
  try {
    return await use(disk);
  } finally {
    await disk.close();
  }
}

/** Reads a part of a file. @param {string} path @param {number} offset @param {number} length */
export function readPart(path, offset, length) {
  const bytes = Buffer.alloc(length);
  const fd = openSync(path, "r");
  readSync(fd, bytes, 0, length, offset);
  closeSync(fd);
  return bytes;
}

/** Throws unless two buffers are equal. @param {Buffer} found @param {Buffer} expected */
export function checkEqual(found, expected) {
  if (!found.equals(expected)) throw new Error("a read returned other bytes than the image has");
}

/** Throws unless two files are equal. @param {string} found @param {string} expected */
export async function compareFiles(found, expected) {
  await execute("cmp", [found, expected]);
}
