import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

import { wrapSystemErrors } from "../local/system-errors.js";
import {
  digestOf,
  diskUsage,
  IMAGE,
  keyOf,
  type Layout,
  LEASE,
  lstatIfPresent,
  RECORD,
  reservedBy,
} from "./files.js";
import { lastUsed } from "./leases.js";

/** The number of files measured, in about 2 ms, before the event loop runs. */
const BATCH = 2 ** 9;

/** An image in a cache, or the remains of one. */
export interface StoredImage {
  readonly digest: string;
  /** Its disk usage with its record, in bytes. */
  readonly bytes: number;
  /** When it was last used, in microseconds; 0 for remains, so that they are evicted first. */
  readonly used: bigint;
  /** Whether it has both its image and its record. */
  readonly isWhole: boolean;
}

/** The content of a cache, as measured. */
export interface Inventory {
  readonly images: readonly StoredImage[];
  /** For each key in `filling`, the disk usage of its files or the bytes reserved for it, whichever is more. */
  readonly reservations: ReadonlyMap<string, number>;
  /** The disk usage of everything, including reservations, in bytes. */
  readonly bytes: number;
  /** The part of `bytes` that belongs to neither images nor reservations. */
  readonly ownBytes: number;
}

/**
 * Measures everything in a cache. The result is consistent only under the cache lock.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export async function takeInventory(layout: Layout): Promise<Inventory> {
  const images = new Map<string, { bytes: number; used?: bigint; hasRecord: boolean }>();
  let bytes = await measure(layout.images, (name, stats) => {
    const digest = digestOf(name, IMAGE) ?? digestOf(name, RECORD) ?? digestOf(name, LEASE);
    if (digest === undefined) return;
    const image = images.get(digest) ?? { bytes: 0, hasRecord: false };
    images.set(digest, image);
    // A directory under the name of a file does not count as that file.
    if (stats.isDirectory()) return;
    image.bytes += diskUsage(stats);
    if (name.endsWith(RECORD)) image.hasRecord = true;
    else if (name.endsWith(IMAGE)) image.used = lastUsed(stats);
  });

  const filling = new Map<string, { bytes: number; reserved: number }>();
  bytes += await measure(layout.filling, (name, stats) => {
    const key = keyOf(name);
    if (key === undefined) return;
    const { bytes: before, reserved } = filling.get(key) ?? { bytes: 0, reserved: 0 };
    if (stats.isDirectory()) {
      filling.set(key, { bytes: before, reserved });
      return;
    }
    filling.set(key, {
      bytes: before + diskUsage(stats),
      reserved: Math.max(reserved, reservedBy(name)),
    });
  });
  bytes += await measure(layout.directory);

  const reservations = new Map<string, number>();
  for (const [key, { bytes: used, reserved }] of filling) {
    reservations.set(key, Math.max(used, reserved));
    bytes += Math.max(0, reserved - used);
  }
  let ownBytes = bytes;
  for (const { bytes: used } of images.values()) ownBytes -= used;
  for (const reserved of reservations.values()) ownBytes -= reserved;
  const stored = [...images].map(([digest, { bytes: size, used, hasRecord }]): StoredImage => {
    const isWhole = used !== undefined && hasRecord;
    return { digest, bytes: size, used: isWhole ? used : 0n, isWhole };
  });
  return { images: stored, reservations, bytes, ownBytes };
}

/** Returns the disk usage of a directory and the files in it, in bytes. */
async function measure(
  directory: string,
  visit: (name: string, stats: BigIntStats) => void = () => {},
): Promise<number> {
  let bytes = diskUsage(lstatIfPresent(directory));
  const names = await wrapSystemErrors("ERR_CACHE", `cannot read ${directory}`, readdir(directory));
  for (const [index, name] of names.entries()) {
    // `join` would normalize the path, at a tenth of the total cost.
    const stats = lstatIfPresent(`${directory}/${name}`);
    if (stats?.isDirectory() === false) bytes += diskUsage(stats);
    if (stats !== undefined) visit(name, stats);
    if (index % BATCH === BATCH - 1) await setImmediate();
  }
  return bytes;
}
