import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

import { withFile } from "../../local/system-failure.js";
import type { Candidate } from "../eviction/policy.js";
import { usedAt } from "../eviction/recency.js";
import { claimOf, digestOf, IMAGE, type Layout, LEASE, RECORD, reservedOf } from "./layout.js";
import { bytesOf, find } from "./lstat.js";

/** How many files are looked at, in about 2 ms, before others get their turn. */
const TURN = 2 ** 9;

/** An image, and what is known of it. */
export interface StoredImage extends Candidate {
  readonly digest: string;
  /** Whether it is whole: otherwise it is what was left of one. */
  readonly isWhole: boolean;
}

/** What is in a cache, as measured. */
export interface Inventory {
  readonly images: readonly StoredImage[];
  /** What each claim has, or was promised if that is more, in bytes. */
  readonly claims: ReadonlyMap<string, number>;
  /** What everything takes on the disk, promises included, in bytes. */
  readonly bytes: number;
  /** What neither images nor claims take of that. */
  readonly ownBytes: number;
}

/** Measures all that is in a cache. Only who has its lock finds what is so. @throws {SnapshotError} `ERR_CACHE` */
export async function takeInventory(layout: Layout): Promise<Inventory> {
  const images = new Map<string, { bytes: number; used?: bigint; hasRecord: boolean }>();
  let bytes = await measure(layout.images, (name, found) => {
    const digest = digestOf(name, IMAGE) ?? digestOf(name, RECORD) ?? digestOf(name, LEASE);
    if (digest === undefined) return;
    const image = images.get(digest) ?? { bytes: 0, hasRecord: false };
    images.set(digest, image);
    // What is in a folder is not looked at: it is no image.
    if (found.isDirectory()) return;
    image.bytes += bytesOf(found);
    if (name.endsWith(RECORD)) image.hasRecord = true;
    else if (name.endsWith(IMAGE)) image.used = usedAt(found);
  });

  const claims = new Map<string, { bytes: number; reserved: number }>();
  bytes += await measure(layout.filling, (name, found) => {
    const claim = claimOf(name);
    if (claim === undefined) return;
    const { bytes: before, reserved } = claims.get(claim) ?? { bytes: 0, reserved: 0 };
    if (found.isDirectory()) {
      claims.set(claim, { bytes: before, reserved });
      return;
    }
    const promised = Math.max(reserved, reservedOf(name));
    claims.set(claim, { bytes: before + bytesOf(found), reserved: promised });
  });
  bytes += await measure(layout.directory);

  const promised = new Map<string, number>();
  for (const [claim, { bytes: taken, reserved }] of claims) {
    promised.set(claim, Math.max(taken, reserved));
    bytes += Math.max(0, reserved - taken);
  }
  let ownBytes = bytes;
  for (const { bytes: taken } of images.values()) ownBytes -= taken;
  for (const taken of promised.values()) ownBytes -= taken;
  const stored = [...images].map(([digest, { bytes: taken, used, hasRecord }]): StoredImage => {
    const isWhole = used !== undefined && hasRecord;
    // What is none goes first.
    return { digest, bytes: taken, used: isWhole ? used : 0n, isWhole };
  });
  return { images: stored, claims: promised, bytes, ownBytes };
}

/** What a folder and the files in it take on the disk, in bytes. */
async function measure(
  folder: string,
  each: (name: string, found: BigIntStats) => void = () => {},
): Promise<number> {
  let bytes = bytesOf(find(folder));
  const names = await withFile("ERR_CACHE", `cannot read ${folder}`, readdir(folder));
  for (const [index, name] of names.entries()) {
    // `join` would look at every character: a tenth of all the time.
    const found = find(`${folder}/${name}`);
    if (found?.isDirectory() === false) bytes += bytesOf(found);
    if (found !== undefined) each(name, found);
    if (index % TURN === TURN - 1) await setImmediate();
  }
  return bytes;
}
