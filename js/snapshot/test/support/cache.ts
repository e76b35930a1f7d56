/** Caches of images, small snapshots to fill them with, and what is in the directory of a cache. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { type CacheOptions, createSnapshot, ImageCache } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";
import { noise, steps, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { expectSameFiles } from "./compare.js";

export const [KIB, MIB] = [2 ** 10, 2 ** 20];

/** A snapshot, and the image that it was made of. */
export interface Sample {
  /** The path of the snapshot. */
  readonly snapshot: string;
  /** The path of the image. */
  readonly image: string;
  readonly digest: string;
  /** How long the snapshot is, in bytes. */
  readonly fileSize: number;
}

/** What is in the image of a sample: 256 KiB of data at its beginning, and no hole, unless it is said. */
export interface SampleLayout {
  /** How many bytes are data, a multiple of `stride`, or less than it. */
  readonly data?: number;
  /** How long the image is, in bytes. */
  readonly size?: number;
  /** How far apart pieces of 64 KiB of data lie, in bytes. */
  readonly stride?: number;
}

const PIECE = 64 * KIB;

/**
 * Makes a snapshot of an image that is another for each name, and the same in every run. Both are in a folder.
 * Its data does not compress.
 */
export async function makeSample(
  path: (...parts: string[]) => string,
  name: string,
  { data = 256 * KIB, size = data, stride = PIECE }: SampleLayout = {},
): Promise<Sample> {
  const [image, snapshot] = [path(`${name}.img`), path(`${name}.vhs`)];
  const bytes = noise(name, data);
  const at = (offset: number) => {
    const start = (offset / stride) * PIECE;
    return bytes.subarray(start, start + PIECE);
  };
  writeSparse(image, size, steps((data / PIECE) * stride, stride), at);
  const options = { workers: 1, pieceSize: PIECE, level: 1 };
  const { digest, fileSize } = await createSnapshot(image, snapshot, options);
  return { snapshot, image, digest, fileSize };
}

/** Makes several. */
export async function makeSamples(
  path: (...parts: string[]) => string,
  names: readonly string[],
  layout: SampleLayout = {},
): Promise<Sample[]> {
  return Promise.all(names.map((name) => makeSample(path, name, layout)));
}

/** Directories for caches, in a folder: another one each time, which is not there yet. */
export function newDirectories(path: (...parts: string[]) => string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return path(`cache-${count}`);
  };
}

/** Opens a cache, of 64 MiB unless it is said, that is closed when the test is done. */
export async function openCache(
  directory: string,
  options: Partial<CacheOptions> = {},
): Promise<ImageCache> {
  const cache = await ImageCache.open(directory, { maxBytes: 64 * MIB, ...options });
  onTestFinished(() => cache.close());
  return cache;
}

/** Throws unless an image is that of a sample, byte for byte. */
export async function expectImage(path: string, { image }: Sample): Promise<void> {
  await expectSameFiles(image, path);
}

/** The path of the image of a snapshot in the directory of a cache, whether there is one or not. */
export function imageIn(directory: string, digest: string): string {
  return join(directory, "images", `${digest}.img`);
}

/** The path of what a cache knows of an image. */
export function recordIn(directory: string, digest: string): string {
  return join(directory, "images", `${digest}.record`);
}

/** The digests of the images in the directory of a cache, in order, by their records. */
export function digestsIn(directory: string): string[] {
  const names = readdirSync(join(directory, "images"));
  return names.flatMap((name) => /^([0-9a-f]{64})\.record$/.exec(name)?.[1] ?? []).sort();
}

/** All that is in the directory of a cache, but for itself: paths relative to it, in order. */
export function filesIn(directory: string): string[] {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true });
  // Node 20 has the name of the folder as `path` before 20.12, and as `parentPath` from then on.
  const folderOf = (entry: (typeof all)[number]) => entry.parentPath ?? entry.path;
  return all.map((entry) => relative(directory, join(folderOf(entry), entry.name))).sort();
}

/** What is always there, or may be. */
const FIXED: ReadonlySet<string> = new Set([
  ...["hedgerow-cache", "sources", "totals.json", "verifier", "images", "filling"],
]);

/** What is in the directory of a cache that should not be there while nobody uses it: what was half-made or left. */
export function strayFiles(directory: string): string[] {
  return filesIn(directory).filter((name) => {
    if (FIXED.has(name)) return false;
    const [, digest] = /^images\/([0-9a-f]{64})\.(?:img|record|lease)$/.exec(name) ?? [];
    if (digest === undefined) return true;
    return ![imageIn, recordIn].every((pathIn) => existsSync(pathIn(directory, digest)));
  });
}

/** What the directory of a cache takes on the disk, in bytes, as `du` counts. */
export function diskUse(directory: string): number {
  const paths = [".", ...filesIn(directory)].map((name) => join(directory, name));
  return paths.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0);
}
