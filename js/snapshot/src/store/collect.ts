/** Deletes snapshots that nothing refers to: mark and sweep, with tombstones. docs/store.md says why that is safe. */
import { eachOf } from "./each-of.js";
import { objectsOf, type Pointer } from "./pointer.js";
import type { Pointers } from "./pointers.js";
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

/** The options of a collection. */
export interface CollectHow {
  /** In milliseconds. */
  readonly grace: number;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Deletes snapshots that nothing refers to. @throws {SnapshotError} `ERR_STORE` */
export async function collect(
  pointers: Pointers,
  snapshots: Snapshots,
  { grace, dryRun, signal }: CollectHow,
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
