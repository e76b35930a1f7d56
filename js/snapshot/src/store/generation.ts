import { safeLocation } from "../location/location.js";
import {
  objectsOf,
  type ParentGeneration,
  type Pointer,
  type PointerGeneration,
} from "./pointer.js";
import type { Snapshots } from "./snapshots.js";

/** A state of a disk that was saved. */
export interface Generation {
  /** 1 for the first one of the disk. No number is used twice. */
  readonly number: number;
  /** The identity of its snapshot. */
  readonly digest: string;
  /** The path or URL of its snapshot, as for `restoreSnapshot`. */
  readonly source: string;
  /** When it was saved, by the clock of the store. */
  readonly time: Date;
  /** The note that was saved with it. */
  readonly label: string | undefined;
  /** The number of bytes of its snapshot, without its base objects. */
  readonly bytes: number;
  /** The number of bytes of its snapshot and its base objects. */
  readonly totalBytes: number;
  /** The disk and the generation that a fork began from. */
  readonly parent: ParentGeneration | undefined;
}

/** Returns a generation as users see it. */
export function generationOf(
  snapshots: Snapshots,
  { objects }: Pointer,
  generation: PointerGeneration,
): Generation {
  const { number, digest, time, label, parent } = generation;
  const sizes = objectsOf(generation).map((object) => objects[object] ?? 0);
  return {
    number,
    digest,
    label,
    parent,
    source: safeLocation(snapshots.location(digest)),
    time: new Date(time),
    bytes: objects[digest] ?? 0,
    totalBytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}
