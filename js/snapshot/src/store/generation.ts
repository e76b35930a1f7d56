import { safeLocation } from "../location/location.js";
import {
  objectsOf,
  type ParentGeneration,
  type Pointer,
  type PointerGeneration,
  snapshotsOf,
  type VolumeKind,
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
  /** The number of bytes of its snapshot and those of its volumes, without their base objects. */
  readonly bytes: number;
  /** The number of bytes of these snapshots and their base objects. */
  readonly totalBytes: number;
  /** Its further volumes by name. */
  readonly volumes: Readonly<Record<string, SavedVolume>>;
  /** The `metadata` of its save. */
  readonly metadata: unknown;
  /** The disk and the generation that a fork began from. */
  readonly parent: ParentGeneration | undefined;
}

/** A further volume of a disk, as it was saved. */
export interface SavedVolume {
  /** What the volume holds. */
  readonly kind: VolumeKind;
  /** In bytes. */
  readonly size: number;
  /** The identity of its snapshot. */
  readonly digest: string;
  /** The path or URL of its snapshot, as for `restoreSnapshot`. */
  readonly source: string;
}

/** Returns a generation as users see it. */
export function generationOf(
  snapshots: Snapshots,
  { objects }: Pointer,
  generation: PointerGeneration,
): Generation {
  const { number, digest, time, label, parent, metadata } = generation;
  const source = (one: string) => safeLocation(snapshots.location(one));
  const volumes = Object.entries(generation.volumes ?? {}).map(([name, volume]) => {
    const { kind, size } = volume;
    return [name, { kind, size, digest: volume.digest, source: source(volume.digest) }] as const;
  });
  const total = (digests: Iterable<string>) =>
    [...digests].reduce((sum, one) => sum + (objects[one] ?? 0), 0);
  return {
    number,
    digest,
    label,
    parent: parent && { ...parent },
    metadata: structuredClone(metadata),
    source: source(digest),
    time: new Date(time),
    bytes: total(new Set(snapshotsOf(generation).map((one) => one.digest))),
    totalBytes: total(objectsOf(generation)),
    volumes: Object.fromEntries(volumes),
  };
}
