/** Images that are put into a cache as they are, without a snapshot that they come from. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { CacheComponents } from "../../src/cache/components.js";
import { makeRecord, recordLength } from "../../src/cache/directory/image-record.js";
import type { Manifest } from "../../src/format/manifest.js";

/** What all of these images take besides their data, in bytes: a record, and while they are filled, a journal. */
export const [RECORD, JOURNAL] = [4096, 4096];

const SOURCE = "nowhere";

/** Memory, where it can be had as a disk. */
const MEMORY = "/dev/shm";

/** A folder, in memory if that is possible, that goes when the tests of the file are done. */
export function quickFolder(): (...parts: string[]) => string {
  const isThere = statSync(MEMORY, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folder = mkdtempSync(join(isThere ? MEMORY : tmpdir(), "hedgerow-cache-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (...parts) => join(folder, ...parts);
}

/** The digest of the image of a name. */
export function digestOf(name: string | number): string {
  return createHash("sha256").update(`${name}`).digest("hex");
}

/** What a snapshot of an image would say, that is all data, and of no frame. */
export function manifestOf(digest: string, size: number): Manifest {
  const frames = { count: 0 } as Manifest["frames"];
  const lengths = { imageSize: size, dataSize: size, holeSize: 0, fileSize: size, pieceSize: size };
  return { info: { digest, ...lengths, dataFrames: 0, holeFrames: 0 }, frames };
}

/** The record of an image of that manifest. */
export function recordOf(manifest: Manifest, journal: Parameters<typeof makeRecord>[2]) {
  return makeRecord(manifest, SOURCE, journal);
}

/**
 * Uses an image once, and puts it there if there is none. Returns whether there was one.
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
