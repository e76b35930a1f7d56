import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";

import { DecodeJob } from "../../decode/decode-job.js";
import { prepareResumable, syncResumable } from "../../decode/resumable-image.js";
import { SnapshotError } from "../../error.js";
import type { Manifest } from "../../format/manifest.js";
import { withWriteback } from "../../local/atomic-write.js";
import type { Source } from "../../location/source.js";
import type { WorkOptions } from "../../options/work-options.js";
import { makeRecord, recordLength } from "../directory/image-record.js";
import type { Lease } from "../locks/leases.js";
import type { ImageWriter } from "../store/image-writer.js";
import type { CachedBase } from "./base-finder.js";
import { copyBase } from "./copy-base.js";

/** An open snapshot and its manifest. */
export interface OpenSnapshot {
  readonly source: Source;
  readonly manifest: Manifest;
}

/** The errors of a full disk and of an exhausted quota. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Restores a snapshot into a cache and leases its image. If the disk is full before the cache reaches its limit,
 * evicts images and tries once more.
 *
 * @param journal the file of the held lock; the restore resumes from the journal that is in it
 * @param base the image of a base: a copy of it is changed to that of the delta
 * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, and what restoring throws
 */
export async function restoreImage(
  writer: ImageWriter,
  snapshot: OpenSnapshot,
  journal: FileHandle,
  options: WorkOptions,
  base?: CachedBase,
): Promise<Lease> {
  try {
    return await tryRestore(writer, snapshot, journal, options, base);
  } catch (error) {
    if (!isDiskFull(error)) throw asCacheError(error);
    const { source, manifest } = snapshot;
    const length = recordLength(manifest, nameOf(source));
    if (!(await writer.freeDisk(manifest, length, options.signal))) throw asCacheError(error);
    return await tryRestore(writer, snapshot, journal, options, base).catch((again: unknown) => {
      throw asCacheError(again);
    });
  }
}

function isDiskFull(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return error instanceof SnapshotError && FULL.has(Object(cause).code);
}

/** Returns `ERR_TARGET` as `ERR_CACHE`: the file that cannot be written belongs to the cache, not to the caller. */
function asCacheError(error: unknown): unknown {
  if (!(error instanceof SnapshotError) || error.code !== "ERR_TARGET") return error;
  return new SnapshotError("ERR_CACHE", error.message, { cause: error.cause });
}

/** Returns the name of a source for its record. A path is made absolute, since other processes read it. */
function nameOf({ id, name }: Source): string {
  return id === undefined ? name : resolve(name);
}

async function tryRestore(
  writer: ImageWriter,
  { source, manifest }: OpenSnapshot,
  journal: FileHandle,
  options: WorkOptions,
  base: CachedBase | undefined,
): Promise<Lease> {
  const name = nameOf(source);
  const reserved = await writer.reserve(manifest, recordLength(manifest, name));
  const { path, file } = reserved;
  try {
    const isResumed = await prepareResumable(path, file, journal, manifest);
    const image = { fd: file.fd, name: path, mayHoldData: true, journal: journal.fd };
    const { signal } = options;
    await withWriteback(file, async () => {
      const isWanted =
        base && (await copyBase(manifest, base, { path, file, journal, isResumed, signal }));
      await source.decode(new DecodeJob(source.name, manifest, image, isWanted), options);
    });
    await syncResumable(path, file, journal);
    options.signal?.throwIfAborted();
    const record = await makeRecord(manifest, name, journal);
    return await writer.publish(manifest.info.digest, reserved, record);
  } finally {
    await file.close();
  }
}
