/** Snapshots and deltas for readers, whole and damaged, and sources of them. */
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import type { RandomAccess, ReaderOptions } from "@hedgerow/snapshot/reader";

/** A snapshot, or a delta with its base objects. */
export interface Sample {
  readonly image: Buffer;
  readonly file: Buffer;
  /** All files, by their paths on a server: the last one is the snapshot. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** The files by their identities. */
  readonly known: ReadonlyMap<string, Buffer>;
}

/** Makes a snapshot of the first image, and a delta of each other one. */
export async function makeSample(
  path: (name: string) => string,
  images: readonly Buffer[],
  pieceSize: number,
): Promise<Sample> {
  const files: Record<string, Buffer> = {};
  const known = new Map<string, Buffer>();
  for (const [at, image] of images.entries()) {
    const [name, base] = [path(`${at}.vhs`), at > 0 ? path(`${at - 1}.vhs`) : undefined];
    writeFileSync(path("image"), image);
    const { digest } = await createSnapshot(path("image"), name, { workers: 1, pieceSize, base });
    files[`/${at}.vhs`] = readFileSync(name);
    known.set(digest, readFileSync(name));
  }
  return { image: images.at(-1)!, file: Object.values(files).at(-1)!, files, known };
}

/** Returns a blob, and options with blobs of its base objects. */
export const blobOf = ({ file, known }: Sample): [Blob, ReaderOptions] => [
  new Blob([Buffer.from(file)]),
  { resolve: (digest) => new Blob([Buffer.from(known.get(digest)!)]) },
];

/** Returns a source that counts the bytes read of it. */
export function countedOf(bytes: Buffer, reads: number[]): RandomAccess {
  const read = async (position: number, length: number) => {
    reads.push(length);
    return bytes.subarray(position, position + length);
  };
  return { name: "counted", size: bytes.length, read };
}

/** Flips one bit of a byte, another one for each place. */
export function flipped(bytes: Buffer, at: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[at]! ^= 1 << (at & 7);
  return damaged;
}
