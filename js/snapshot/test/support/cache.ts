/** Helpers to open caches, to make small snapshots for them, and to look into their directories. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { type CacheOptions, createSnapshot, ImageCache } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";
import { noise, steps, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { expectSameFiles } from "./compare.js";

export const [KIB, MIB] = [2 ** 10, 2 ** 20];

/** A snapshot and its image. */
export interface Sample {
  /** The path of the snapshot. */
  readonly snapshot: string;
  /** The path of the image. */
  readonly image: string;
  readonly digest: string;
  /** The length of the snapshot, in bytes. */
  readonly fileSize: number;
}

/** The layout of a sample's image. Default: 256 KiB of data without holes. */
export interface SampleLayout {
  /** The number of bytes of data. */
  readonly data?: number;
  /** The length of the image, in bytes. */
  readonly size?: number;
  /** The distance between pieces of 64 KiB of data, in bytes. */
  readonly stride?: number;
}

const PIECE = 64 * KIB;

/**
 * Makes a snapshot of an image of incompressible data. The image differs for each name and is the same in every
 * run.
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

/** Makes several samples with the same layout. */
export async function makeSamples(
  path: (...parts: string[]) => string,
  names: readonly string[],
  layout: SampleLayout = {},
): Promise<Sample[]> {
  return Promise.all(names.map((name) => makeSample(path, name, layout)));
}

/** Returns a function that returns the path of another new directory each time. */
export function newDirectories(path: (...parts: string[]) => string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return path(`cache-${count}`);
  };
}

/**
 * Opens a cache, of 64 MiB by default, and closes it when the test ends. A `get` without options uses one worker, since
 * a second one makes a small restore take twice as long.
 */
export async function openCache(
  directory: string,
  options: Partial<CacheOptions> = {},
): Promise<ImageCache> {
  const cache = await ImageCache.open(directory, { maxBytes: 64 * MIB, ...options });
  const get = cache.get.bind(cache);
  cache.get = (source, given = { workers: 1 }) => get(source, given);
  onTestFinished(() => cache.close());
  return cache;
}

/** Copies the directory of a closed cache, which is cheaper than to fill another one. */
export function copyCache(from: string, to: string): void {
  execFileSync("cp", ["--archive", "--sparse=always", from, to]);
}

/** Throws unless an image equals that of a sample. */
export async function expectImage(path: string, { image }: Sample): Promise<void> {
  await expectSameFiles(image, path);
}

/** Returns the path of an image in a cache, whether it exists or not. */
export function imageIn(directory: string, digest: string): string {
  return join(directory, "images", `${digest}.img`);
}

/** Returns the path of the record of an image in a cache. */
export function recordIn(directory: string, digest: string): string {
  return join(directory, "images", `${digest}.record`);
}

/** Returns the sorted digests of the images in a cache, by their records. */
export function digestsIn(directory: string): string[] {
  const names = readdirSync(join(directory, "images"));
  return names.flatMap((name) => /^([0-9a-f]{64})\.record$/.exec(name)?.[1] ?? []).sort();
}

/** Returns the sorted relative paths of everything in a directory. */
export function filesIn(directory: string): string[] {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true });
  // Node 20 names the folder `path` before 20.12, and `parentPath` from then on.
  const folderOf = (entry: (typeof all)[number]) => entry.parentPath ?? entry.path;
  return all.map((entry) => relative(directory, join(folderOf(entry), entry.name))).sort();
}

/** The names that a cache may always contain. */
const FIXED: ReadonlySet<string> = new Set([
  ...["hedgerow-cache", "sources", "totals.json", "verifier", "images", "filling"],
]);

/** Returns the files that should not be in a cache that is not in use. */
export function strayFiles(directory: string): string[] {
  return filesIn(directory).filter((name) => {
    if (FIXED.has(name)) return false;
    const [, digest] = /^images\/([0-9a-f]{64})\.(?:img|record|lease)$/.exec(name) ?? [];
    if (digest === undefined) return true;
    return ![imageIn, recordIn].every((pathIn) => existsSync(pathIn(directory, digest)));
  });
}

/** Returns the disk usage of a directory, in bytes, as `du` counts it. */
export function diskUse(directory: string): number {
  const paths = [".", ...filesIn(directory)].map((name) => join(directory, name));
  return paths.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0);
}
