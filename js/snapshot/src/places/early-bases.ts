/** Base objects that are opened at the same time as their delta, before its manifest names them. */
import { type BaseObjectsHow, howOfBase } from "./base-objects.js";
import type { Location } from "./location.js";
import { closeObject, type OpenedObject, openObject } from "./open-object.js";

/** A base object that a delta is known to have. */
export interface KnownBase {
  readonly digest: string;
  readonly location: Location;
  /** The number of its bytes. */
  readonly size: number;
}

/** How base objects are opened. */
interface EarlyHow extends BaseObjectsHow {
  /** How many bytes of the beginning of the largest one to request, which has most of the image. */
  readonly prefixLength: number;
}

/** Base objects that are being opened. */
export class EarlyBases {
  readonly #opening: Promise<Map<string, Promise<OpenedObject>>>;

  constructor(delta: Location, bases: Promise<readonly KnownBase[]>, how: EarlyHow) {
    this.#opening = bases.then(
      (known) => openAll(delta, known, how),
      // Those that are needed are opened when the manifest is known.
      () => new Map(),
    );
  }

  /** Returns a base object if it is being opened. The caller closes it. @throws {SnapshotError} `ERR_SOURCE` */
  async take(digest: string): Promise<OpenedObject | undefined> {
    const opening = await this.#opening;
    const found = opening.get(digest);
    opening.delete(digest);
    return found;
  }

  /** Closes the base objects that were not taken. */
  async close(): Promise<void> {
    const opening = await this.#opening;
    const left = [...opening.values()];
    opening.clear();
    for (const result of await Promise.allSettled(left))
      if (result.status === "fulfilled") await closeObject(result.value);
  }
}

function openAll(
  delta: Location,
  bases: readonly KnownBase[],
  { prefixLength, ...how }: EarlyHow,
): Map<string, Promise<OpenedObject>> {
  const largest = Math.max(...bases.map(({ size }) => size));
  const opening = new Map<string, Promise<OpenedObject>>();
  for (const { digest, location, size } of bases) {
    // Opening a file takes no time.
    if (location.kind === "file") continue;
    const wanted = size === largest ? prefixLength : 0;
    const opened = openObject(location, {
      ...howOfBase(delta, location, digest, how),
      prefixLength: wanted,
    });
    opened.catch(() => {});
    opening.set(digest, opened);
  }
  return opening;
}
