import { byGeneration, objectsOf } from "./pointer.js";
import type { Pointers } from "./pointers.js";
import type { Snapshots } from "./snapshots.js";

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
  /** Whether it is the snapshot of the generation, or a base object of that. */
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
      const as = generation.digest === digest ? "snapshot" : "base";
      references.push({ name, generation: generation.number, as });
    }
  }, signal);
  const [bytes] = await Promise.all([snapshots.size(digest, signal), finding]);
  return { digest, bytes, references: references.sort(byGeneration) };
}
