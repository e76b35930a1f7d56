/** Deltas of samples, for caches. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CreateOptions, createSnapshot } from "@hedgerow/snapshot";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { noise } from "../../../../tests/support/snapshots/image.js";
import type { Sample } from "./cache.js";

/** Changes the bytes of an image, or returns others. */
export type Change = (bytes: Buffer) => Buffer | undefined;

/** Returns a change that overwrites bytes from an offset on. The bytes differ for each name. */
export function write(name: string, offset: number, length: number): Change {
  return (bytes) => {
    noise(name, length).copy(bytes, offset);
    return undefined;
  };
}

/** Makes a delta of a changed image against a sample, in the folder of the sample. */
export async function makeDelta(
  base: Sample,
  name: string,
  changes: readonly Change[],
  options: CreateOptions = {},
): Promise<Sample> {
  const [image, snapshot] = ["img", "vhs"].map((kind) =>
    join(base.snapshot, "..", `${name}.${kind}`),
  );
  let bytes = readFileSync(base.image);
  for (const change of changes) bytes = Buffer.from(change(bytes) ?? bytes);
  writeFileSync(image!, bytes);
  const how = { workers: 1, level: 1, base: base.snapshot, ...options };
  const { digest, fileSize } = await createSnapshot(image!, snapshot!, how);
  return { image: image!, snapshot: snapshot!, digest, fileSize };
}

/** Returns the paths that an origin was asked for, each once, sorted. */
export function pathsOf({ requests }: Origin): string[] {
  return [...new Set(requests.map(({ path }) => path))].sort();
}

/** Returns the number of bytes that an origin has sent of a path. */
export function sentOf({ requests }: Origin, path: string): number {
  return requests.reduce((sum, one) => sum + (one.path === path ? one.bytesSent : 0), 0);
}
