/** Reads the journal of an unfinished restore. */
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { ENTRY_LENGTH, entryPosition } from "../../dist/decode/frame-sink.js";
import { resumePaths } from "../../dist/decode/restored-image.js";
import { type Manifest, readManifest } from "../../dist/format/manifest.js";

export { entryPosition, resumePaths };

/** Returns the manifest of a local snapshot. */
export async function manifestOf(path: string): Promise<Manifest> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const read = async (position: number, length: number) => {
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer;
    };
    return await readManifest({ name: path, size, read });
  } finally {
    await file.close();
  }
}

/** Returns how many bytes of a snapshot a restore to `target` still has to fetch. */
export function missingBytes({ info, frames }: Manifest, target: string): number {
  const { journal } = resumePaths(target, info.digest);
  const entries = entriesOf(journal);
  let missing = 0;
  for (let index = 0; index < frames.count; index += 1) {
    const start = entryPosition(index);
    const isDone = entries.subarray(start, start + ENTRY_LENGTH).some((byte) => byte !== 0);
    if (!isDone && !frames.isHole(index)) missing += frames.compressedLength(index);
  }
  return missing;
}

/** Reads a journal. Returns an empty buffer if it does not exist, which can change at any moment. */
function entriesOf(journal: string): Buffer {
  try {
    return readFileSync(journal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
