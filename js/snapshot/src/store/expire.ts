import {
  BOOLEAN,
  type Checks,
  checkOptions,
  type Duration,
  duration,
  integer,
  invalid,
  millisecondsOf,
  SIGNAL,
} from "../check.js";
import { SnapshotError } from "../error.js";
import { agedLease, isAttached } from "./lease.js";
import {
  byGeneration,
  checkName,
  type Pointer,
  type PointerGeneration,
  withGenerations,
} from "./pointer.js";
import {
  eachOf,
  forMany,
  type KnownPointer,
  POINTERS_AT_A_TIME,
  type Pointers,
} from "./pointers.js";

/** Options of `DiskStore.expire`: at least one of `keepLast` and `olderThan`. */
export interface ExpireOptions {
  /** The disk whose generations expire. Default: all disks. */
  readonly name?: string | undefined;
  /** The number of generations of each disk that stay in any case, 1 or more. Default: 1. */
  readonly keepLast?: number | undefined;
  /** The age from which generations expire. Default: any age. */
  readonly olderThan?: Duration | undefined;
  /** Whether to change nothing, and only return what would expire. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

const EXPIRE_CHECKS: Checks<ExpireOptions> = {
  name: checkName,
  keepLast: integer(1),
  olderThan: duration(),
  dryRun: BOOLEAN,
  signal: SIGNAL,
};

/** A generation that has expired. */
export interface ExpiredGeneration {
  /** The name of the disk. */
  readonly name: string;
  /** The number of the generation. */
  readonly generation: number;
}

/** Removes old generations of one disk, or of all. @throws {SnapshotError} what `DiskStore.expire` throws */
export async function expire(
  pointers: Pointers,
  options: ExpireOptions,
): Promise<ExpiredGeneration[]> {
  options = checkOptions(options, EXPIRE_CHECKS);
  if (options.keepLast === undefined && options.olderThan === undefined)
    throw invalid("options", "keepLast or olderThan", "neither");
  const { name, keepLast = 1, dryRun = false } = options;
  const olderThan = millisecondsOf(options.olderThan ?? 0);
  options.signal?.throwIfAborted();
  const signal = forMany(options.signal);
  const now = await pointers.objects.now();
  const parents = await parentsOf(pointers, signal);
  const expired: ExpiredGeneration[] = [];
  const expireOne = async (one: string) => {
    let gone: readonly PointerGeneration[] = [];
    const change = async (known: KnownPointer): Promise<Pointer | undefined> => {
      const { pointer } = known;
      const isKept = await pinnedBy(pointers, known, parents.get(one));
      gone = pointer.generations
        .slice(0, -keepLast)
        .filter(({ number, time }) => now - time >= olderThan && !isKept(number));
      if (gone.length === 0 || dryRun) return undefined;
      const left = pointer.generations.filter((generation) => !gone.includes(generation));
      return withGenerations({ ...pointer, lease: await agedLease(pointers, known) }, left);
    };
    try {
      await pointers.update(one, change, { signal });
    } catch (error) {
      // It may have been removed since it was listed.
      const isGone = error instanceof SnapshotError && error.code === "ERR_NO_DISK";
      if (isGone && name === undefined) return;
      throw error;
    }
    for (const { number: generation } of gone) expired.push({ name: one, generation });
  };
  if (name !== undefined) await expireOne(name);
  else await eachOf(pointers.names({}, signal), POINTERS_AT_A_TIME, expireOne);
  return expired.sort(byGeneration);
}

/** Returns the generations that forks began from, by the name of their disk. */
async function parentsOf(
  pointers: Pointers,
  signal: AbortSignal | undefined,
): Promise<Map<string, Set<number>>> {
  const parents = new Map<string, Set<number>>();
  await pointers.each((_name, { generations }) => {
    for (const { parent } of generations) {
      if (parent === undefined) continue;
      const numbers = parents.get(parent.name) ?? new Set();
      parents.set(parent.name, numbers.add(parent.generation));
    }
  }, signal);
  return parents;
}

/** Returns whether generations before the last one of a disk must stay, by their number. */
async function pinnedBy(
  pointers: Pointers,
  known: KnownPointer,
  forked: ReadonlySet<number> | undefined,
): Promise<(number: number) => boolean> {
  const { pointer } = known;
  // The host that has attached the disk reads it.
  const read = (await isAttached(pointers, known)) ? pointer.lease?.generation : undefined;
  return (number) => number === read || (forked?.has(number) ?? false);
}
