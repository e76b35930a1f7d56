/** Puts images into a cache without restoring them from snapshots. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { CacheComponents } from "../../src/cache/components.js";
import { makeRecord, recordLength } from "../../src/cache/record.js";
import type { Manifest } from "../../src/format/manifest.js";

/** The disk usage of a record and a journal of these images, in bytes. */
export const [RECORD, JOURNAL] = [4096, 4096];

const SOURCE = "nowhere";

/** A file system in memory. */
const MEMORY = "/dev/shm";

/** Makes a folder, in memory if possible, and deletes it after the tests of the file. */
export function quickFolder(): (...parts: string[]) => string {
  const isThere = statSync(MEMORY, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folder = mkdtempSync(join(isThere ? MEMORY : tmpdir(), "hedgerow-cache-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (...parts) => join(folder, ...parts);
}

/** Returns a digest for a name. */
export function digestOf(name: string | number): string {
  return createHash("sha256").update(`${name}`).digest("hex");
}

/** Returns the manifest of an image that is all data, without frames. */
export function manifestOf(digest: string, size: number): Manifest {
  const frames = { count: 0 } as Manifest["frames"];
  const lengths = { imageSize: size, dataSize: size, holeSize: 0, fileSize: size, pieceSize: size };
  const info = { digest, ...lengths, dataFrames: 0, holeFrames: 0 };
  return { info, frames, tail: new Uint8Array(0) };
}

/** Makes the record of an image with a manifest. */
export function recordOf(manifest: Manifest, journal: Parameters<typeof makeRecord>[2]) {
  return makeRecord(manifest, SOURCE, journal);
}

/**
 * Uses an image once, and stores it if it is missing. Returns whether it was a hit.
 *
 * @param size in bytes
 */
export async function use(
  { store, writer }: CacheComponents,
  digest: string,
  size: number,
): Promise<boolean> {
  const found = await store.take(digest);
  if (found !== undefined) {
    await store.release(found);
    return true;
  }
  const manifest = manifestOf(digest, size);
  const reserved = await writer.reserve(manifest, recordLength(manifest, SOURCE));
  try {
    await reserved.file.write(Buffer.alloc(size, digest), 0, size, 0);
    const record = await recordOf(manifest, reserved.file);
    await store.release(await writer.publish(digest, reserved, record));
  } finally {
    await reserved.file.close();
  }
  return false;
}
