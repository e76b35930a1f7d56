/**
 * Writes the image of a restore: whole or not at all, or so that the next call resumes it.
 *
 * A restore that can be resumed leaves a partial image and a journal beside the image. The journal has a head that names
 * the snapshot, and then one entry for each frame: see {@link ENTRY_LENGTH}.
 */
import { createHash } from "node:crypto";
import { type FileHandle, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { Manifest } from "../format/manifest.js";
import {
  type AtomicWriteOptions,
  publishFile,
  resolveTarget,
  withWriteback,
  writeAtomically,
} from "../local/atomic-write.js";
import { checkFreeSpace, zeroHoles } from "../local/disk-space.js";
import { lockPrivateFile } from "../local/locks.js";
import { checkDifferentFile, type FileId } from "../local/open-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import type { OpenImage } from "./decode-job.js";
import { HEAD_LENGTH } from "./frame-sink.js";

/** The first bytes of a journal: the kind and version of the file. The digest of the snapshot ends the head. */
const MAGIC = "hedgerow restore journal 1\n";

/** The unit of `blocks` in the result of `stat`, in bytes. */
const STAT_BLOCK = 512;

/**
 * Opens the image of a snapshot, calls `write` to fill it, and renames it to `path` when it is complete.
 *
 * @param from the snapshot, if it is a local file: it must not be the image
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`, and what `write` throws
 */
export async function writeImage(
  path: string,
  manifest: Manifest,
  from: FileId | undefined,
  options: AtomicWriteOptions & { readonly resume?: boolean | undefined },
  write: (image: OpenImage) => Promise<void>,
): Promise<void> {
  if (from !== undefined) await checkDifferentFile("image", path, from);
  // If another process is resuming the same restore, restore without a journal.
  if (options.resume && (await writeResumable(path, manifest, options, write))) return;
  const { dataSize, imageSize } = manifest.info;
  await writeAtomically(path, options, async (handle) => {
    await checkFreeSpace(path, dataSize);
    await wrapWriteErrors(path, handle.truncate(imageSize));
    await write({ fd: handle.fd, name: path, mayHoldData: false, journal: undefined });
  });
}

/**
 * Writes an image whole or not at all. If it fails, the partial image and its journal stay, and the next call
 * resumes from them.
 *
 * Both lie beside the image, and their names derive from those of the image and the snapshot. Returns false,
 * and does nothing, if another process is using them.
 *
 * @throws {SnapshotError} `ERR_TARGET`, and what `write` throws
 */
async function writeResumable(
  path: string,
  manifest: Manifest,
  options: AtomicWriteOptions,
  write: (image: OpenImage) => Promise<void>,
): Promise<boolean> {
  const target = await resolveTarget(path, options);
  const { partial, journal } = resumePaths(target, manifest.info.digest);
  const entries = await lockPrivateFile(path, journal);
  if (entries === undefined) return false;
  try {
    // Lock both files: a process that finds either of them unfit for use removes it.
    const file = await lockPrivateFile(path, partial);
    if (file === undefined) return false;
    try {
      await prepareResumable(path, file, entries, manifest);
      const image = { fd: file.fd, name: path, mayHoldData: true, journal: entries.fd };
      await withWriteback(file, () => write(image));
      await syncResumable(path, file, entries);
      await publishFile(path, { file, partial, target }, options);
    } finally {
      await file.close().catch(() => {});
    }
    await rm(journal, { force: true }).catch(() => {});
  } finally {
    await entries.close();
  }
  return true;
}

/** Returns the paths of the partial image and the journal of an unfinished restore. */
export function resumePaths(target: string, digest: string): { partial: string; journal: string } {
  const hash = createHash("sha256").update(basename(target)).digest("hex");
  const stem = join(dirname(target), `.hedgerow-${hash.slice(0, 16)}-${digest.slice(0, 16)}`);
  return { partial: `${stem}.part`, journal: `${stem}.journal` };
}

/**
 * Prepares the partial image: keeps the data of an earlier run of the same snapshot, or clears both files if the
 * journal belongs to another one. Returns whether the journal has entries of an earlier run.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function prepareResumable(
  path: string,
  file: FileHandle,
  entries: FileHandle,
  { info: { digest, imageSize, dataSize }, frames }: Manifest,
): Promise<boolean> {
  const head = headOf(digest);
  const found = Buffer.alloc(HEAD_LENGTH);
  await wrapWriteErrors(path, entries.read(found, 0, HEAD_LENGTH, 0));
  const { size, blocks } = await wrapWriteErrors(path, file.stat());
  if (found.equals(head) && size === imageSize) {
    await wrapWriteErrors(path, zeroHoles(file, frames, imageSize));
    await checkFreeSpace(path, dataSize - blocks * STAT_BLOCK);
    return (await wrapWriteErrors(path, entries.stat())).size > HEAD_LENGTH;
  }
  // Clear the journal first: it must never describe more than the image holds.
  await wrapWriteErrors(path, entries.truncate(0));
  await wrapWriteErrors(path, file.truncate(0));
  await checkFreeSpace(path, dataSize);
  await wrapWriteErrors(path, file.truncate(imageSize));
  await wrapWriteErrors(path, entries.write(head, 0, HEAD_LENGTH, 0));
  return false;
}

/**
 * Flushes an image to the disk, and forgets its journal if that fails.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function syncResumable(
  path: string,
  file: FileHandle,
  entries: FileHandle,
): Promise<void> {
  await wrapWriteErrors(path, file.sync()).catch(async (error: unknown) => {
    // A failed fsync is reported once: data that a later run reads back may not be on the disk.
    await entries.truncate(0);
    throw error;
  });
}

function headOf(digest: string): Buffer {
  const head = Buffer.alloc(HEAD_LENGTH);
  head.write(MAGIC, "latin1");
  head.write(digest, HEAD_LENGTH - digest.length / 2, "hex");
  return head;
}
