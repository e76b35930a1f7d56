import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";

import { DecodeJob } from "../../decode/decode-job.js";
import { prepareResumable } from "../../decode/resumable-image.js";
import { SnapshotError } from "../../error.js";
import type { Manifest } from "../../format/manifest.js";
import { writing } from "../../local/whole-file.js";
import type { WorkOptions } from "../../options/work-options.js";
import type { Source } from "../../places/source.js";
import { makeRecord, recordLength } from "../directory/image-record.js";
import type { ImageStore } from "../directory/image-store.js";
import type { Lease } from "../locks/leases.js";

/** A snapshot that is open, and what is in it. */
export interface OpenSnapshot {
  readonly source: Source;
  readonly manifest: Manifest;
}

/** What the system says where there is no more room on a disk, or for this user. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Restores a snapshot into a cache, and begins to use its image. If the disk is full although the cache is not, it
 * has images go, and tries once more.
 *
 * @param claim the file of the claim, which is the journal: what was restored under it before stays
 * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, and what restoring throws
 */
export async function fillOrEvict(
  store: ImageStore,
  snapshot: OpenSnapshot,
  claim: FileHandle,
  options: WorkOptions,
): Promise<Lease> {
  try {
    return await fill(store, snapshot, claim, options);
  } catch (error) {
    if (!isFull(error)) throw ofCache(error);
    const { source, manifest } = snapshot;
    const length = recordLength(manifest, nameOf(source));
    if (!(await store.free(manifest, length, options.signal))) throw ofCache(error);
    return await fill(store, snapshot, claim, options).catch((again: unknown) => {
      throw ofCache(again);
    });
  }
}

/** Whether there was no room on the disk. */
function isFull(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return error instanceof SnapshotError && FULL.has(Object(cause).code);
}

/** What cannot be written here is a file of the cache, and not a target of the caller's. */
function ofCache(error: unknown): unknown {
  if (!(error instanceof SnapshotError) || error.code !== "ERR_TARGET") return error;
  return new SnapshotError("ERR_CACHE", error.message, { cause: error.cause });
}

/** Where a snapshot comes from. A path has to mean the same to all who share the cache. */
function nameOf({ id, name }: Source): string {
  return id === undefined ? name : resolve(name);
}

/**
 * Restores a snapshot into a cache, and begins to use its image.
 *
 * @param claim the file of the claim, which is the journal: what was restored under it before stays
 * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, and what restoring throws
 */
async function fill(
  store: ImageStore,
  { source, manifest }: OpenSnapshot,
  claim: FileHandle,
  options: WorkOptions,
): Promise<Lease> {
  const name = nameOf(source);
  const reserved = await store.reserve(manifest, recordLength(manifest, name));
  const { path, file } = reserved;
  try {
    await prepareResumable(path, file, claim, manifest);
    const image = { fd: file.fd, name: path, journal: claim.fd };
    await source.decode(new DecodeJob(source.name, manifest, image), options);
    await writing(path, file.sync());
    options.signal?.throwIfAborted();
    const record = await makeRecord(manifest, name, claim);
    return await store.publish(manifest.info.digest, reserved, record);
  } finally {
    await file.close();
  }
}
