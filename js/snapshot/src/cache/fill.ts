import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { FrameWork } from "../decode/frame-work.js";
import type { Manifest } from "../format/manifest.js";
import { prepareResumable } from "../local/resumable-image.js";
import { writing } from "../local/whole-file.js";
import type { WorkOptions } from "../options/work-options.js";
import type { Source } from "../places/source.js";
import { makeRecord, recordLength } from "./image-record.js";
import type { Lease } from "./leases.js";
import type { Shelf } from "./shelf.js";

/** A snapshot that is open, and what is in it. */
export interface OpenSnapshot {
  readonly source: Source;
  readonly manifest: Manifest;
}

/**
 * Restores a snapshot into a cache, and begins to use its image.
 *
 * @param claim the file of the claim, which is the journal: what was restored under it before stays
 * @throws {SnapshotError} `ERR_CACHE_SIZE`, `ERR_CACHE`, and what restoring throws
 */
export async function fill(
  shelf: Shelf,
  { source, manifest }: OpenSnapshot,
  claim: FileHandle,
  options: WorkOptions,
): Promise<Lease> {
  // A path has to mean the same to all who share the cache.
  const name = source.id === undefined ? source.name : resolve(source.name);
  const reserved = await shelf.reserve(manifest, recordLength(manifest, name));
  const { path, file } = reserved;
  try {
    await prepareResumable(path, file, claim, manifest);
    const image = { fd: file.fd, name: path, journal: claim.fd };
    await source.decode(new FrameWork(source.name, manifest, image), options);
    await writing(path, file.sync());
    options.signal?.throwIfAborted();
    const record = await makeRecord(manifest, name, claim);
    return await shelf.publish(manifest.info.digest, reserved, record);
  } finally {
    await file.close();
  }
}
