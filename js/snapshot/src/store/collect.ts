/**
 * Deletes snapshots that nothing refers to, or explains what refers to one. A collection marks such a snapshot with a
 * tombstone, and deletes it only if the mark is older than the grace period; a writer that is about to refer to the
 * snapshot removes the mark first. docs/store.md says why that is safe.
 */

import {
  BOOLEAN,
  type Checks,
  checkOptions,
  type Duration,
  duration,
  millisecondsOf,
  SIGNAL,
} from "../check.js";
import { byGeneration, objectsOf, type Pointer, snapshotsOf } from "./pointer.js";
import { eachOf, forMany, type Pointers } from "./pointers.js";
import type { ListedSnapshot, Snapshots } from "./snapshots.js";

/** The number of snapshots of each list that are handled at a time. */
const SNAPSHOTS_AT_A_TIME = 8;

/** The prefixes by which snapshots are listed, several at a time: in a list, each page waits for the last one. */
const PREFIXES = [..."0123456789abcdef"];
const LISTS_AT_A_TIME = 4;

/** The result of a collection. */
export interface Collected {
  /** The number of snapshots in the store. */
  readonly snapshots: number;
  /** The snapshots that were deleted, or would be. */
  readonly deleted: readonly CollectedSnapshot[];
  /** The number of snapshots that nothing refers to and that stay: their grace period is not over. */
  readonly marked: number;
  /** The number of bytes that were deleted, or would be. */
  readonly bytes: number;
  /** The number of leftovers of killed processes, such as incomplete uploads, that were removed, or would be. */
  readonly leftovers: number;
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
}

/** A snapshot that nothing refers to. */
export interface CollectedSnapshot {
  /** Its identity. */
  readonly digest: string;
  /** The number of bytes of the snapshot and its trace. */
  readonly bytes: number;
}

/** Options of `DiskStore.collect`. */
export interface CollectOptions {
  /**
   * How long a snapshot must have been marked as not needed before it is deleted. It must be longer than any save or
   * creation takes. Default: `"24h"`.
   */
  readonly grace?: Duration | undefined;
  /** Whether to change nothing, and only return what would be deleted. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

const COLLECT_CHECKS: Checks<CollectOptions> = {
  grace: duration(),
  dryRun: BOOLEAN,
  signal: SIGNAL,
};

/** Returns checked options with their defaults. @throws {SnapshotError} `ERR_ARGUMENT` */
export function collectionOf(options: CollectOptions): Collection {
  const { grace = "24h", dryRun = false, signal } = checkOptions(options, COLLECT_CHECKS);
  signal?.throwIfAborted();
  return { grace: millisecondsOf(grace), dryRun, signal: forMany(signal) };
}

/** The options of a collection, with their defaults. */
interface Collection {
  /** In milliseconds. */
  readonly grace: number;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Deletes snapshots that nothing refers to. @throws {SnapshotError} `ERR_STORE` */
export async function collect(
  pointers: Pointers,
  snapshots: Snapshots,
  { grace, dryRun, signal }: Collection,
): Promise<Collected> {
  const begun = performance.now();
  const { objects, tombstones } = snapshots;
  // A snapshot that was referred to later has lost its mark since, or the mark is younger than this.
  const before = (await objects.now()) - grace;
  const marks = new Set<string>();
  for await (const digest of tombstones.digests(signal)) marks.add(digest);
  const live = await liveObjects(pointers, signal);
  const deleted: CollectedSnapshot[] = [];
  let [count, marked] = [0, 0];
  const sweep = async (snapshot: ListedSnapshot) => {
    count += 1;
    const isMarked = marks.delete(snapshot.digest);
    if (live.has(snapshot.digest)) {
      if (isMarked && !dryRun) await unmark(snapshots, snapshot);
      return;
    }
    const tombstone = isMarked ? await tombstones.read(snapshot.digest, signal) : undefined;
    const isOld = tombstone !== undefined && tombstone.modified <= before;
    const isDeleted = isOld && (dryRun || (await snapshots.delete(snapshot.digest, tombstone)));
    if (isDeleted) deleted.push({ digest: snapshot.digest, bytes: snapshot.size });
    else marked += 1;
    if (tombstone === undefined && !dryRun) await tombstones.mark(snapshot.digest);
  };
  await eachOf(PREFIXES, LISTS_AT_A_TIME, (prefix) =>
    eachOf(snapshots.list(prefix, signal), SNAPSHOTS_AT_A_TIME, sweep),
  );
  // Tombstones of snapshots that are gone.
  await eachOf(marks, SNAPSHOTS_AT_A_TIME, async (digest) => {
    if (dryRun) return;
    const tombstone = await tombstones.read(digest, signal);
    // A young one may be of a snapshot that was stored since the list was read.
    if (tombstone !== undefined && tombstone.modified <= before)
      await snapshots.delete(digest, tombstone);
  });
  const leftovers = await objects.removeLeftovers(grace, dryRun, signal);
  const bytes = deleted.reduce((sum, one) => sum + one.bytes, 0);
  deleted.sort((a, b) => (a.digest < b.digest ? -1 : 1));
  const duration = performance.now() - begun;
  return { snapshots: count, deleted, marked, bytes, leftovers, duration };
}

/** Returns the identities of all objects that pointers refer to. */
async function liveObjects(
  pointers: Pointers,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const live = new Set<string>();
  const add = (_name: string, { generations }: Pointer) => {
    for (const digest of generations.flatMap(objectsOf)) live.add(digest);
  };
  await pointers.each(add, signal);
  return live;
}

/** Removes the tombstone of a snapshot that something refers to. */
async function unmark({ tombstones }: Snapshots, { digest }: ListedSnapshot): Promise<void> {
  const tombstone = await tombstones.read(digest);
  if (tombstone?.state === "marked") await tombstones.remove(digest, tombstone.tag);
}

/** The reasons why a snapshot is in a store. */
export interface Explanation {
  /** Its identity. */
  readonly digest: string;
  /** Its size in bytes, or undefined if it is not in the store. */
  readonly bytes: number | undefined;
  /** The generations that need it. If there are none, collections delete it after the grace period. */
  readonly references: readonly Reference[];
}

/** A generation that needs a snapshot. */
export interface Reference {
  /** The name of the disk. */
  readonly name: string;
  /** The number of the generation. */
  readonly generation: number;
  /** Whether it is a snapshot of the generation, or a base object of one. */
  readonly as: "snapshot" | "base";
}

/** Finds the generations of all disks that need a snapshot. @throws {SnapshotError} `ERR_STORE` */
export async function explain(
  pointers: Pointers,
  snapshots: Snapshots,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<Explanation> {
  const references: Reference[] = [];
  const finding = pointers.each((name, { generations }) => {
    for (const generation of generations) {
      if (!objectsOf(generation).includes(digest)) continue;
      const isSnapshot = snapshotsOf(generation).some((one) => one.digest === digest);
      const as = isSnapshot ? "snapshot" : "base";
      references.push({ name, generation: generation.number, as });
    }
  }, signal);
  const [bytes] = await Promise.all([snapshots.size(digest, signal), finding]);
  return { digest, bytes, references: references.sort(byGeneration) };
}
