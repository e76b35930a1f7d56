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

/** A base object that is being opened. */
interface Opening {
  readonly opened: Promise<OpenedObject>;
  /** Stops it, unless it was taken. */
  readonly stop: AbortController;
}

/** Base objects that are being opened. */
export class EarlyBases {
  readonly #openings: Promise<Map<string, Opening>>;

  constructor(delta: Location, bases: Promise<readonly KnownBase[]>, how: EarlyHow) {
    this.#openings = bases.then(
      (known) => openAll(delta, known, how),
      // Those that are needed are opened when the manifest is known.
      () => new Map(),
    );
  }

  /** Returns a base object if it is being opened. The caller closes it. @throws {SnapshotError} `ERR_SOURCE` */
  async take(digest: string): Promise<OpenedObject | undefined> {
    const openings = await this.#openings;
    const found = openings.get(digest);
    openings.delete(digest);
    return found?.opened;
  }

  /** Stops opening the base objects that were not taken, and closes them. */
  async close(): Promise<void> {
    const openings = await this.#openings;
    const left = [...openings.values()];
    openings.clear();
    for (const { stop } of left) stop.abort();
    for (const result of await Promise.allSettled(left.map(({ opened }) => opened)))
      if (result.status === "fulfilled") await closeObject(result.value);
  }
}

function openAll(
  delta: Location,
  bases: readonly KnownBase[],
  { prefixLength, options, ...how }: EarlyHow,
): Map<string, Opening> {
  const largest = Math.max(...bases.map(({ size }) => size));
  const openings = new Map<string, Opening>();
  for (const { digest, location, size } of bases) {
    // Opening a file takes no time.
    if (location.kind === "file") continue;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
    const opened = openObject(location, {
      ...howOfBase(delta, location, digest, { ...how, options: { ...options, signal } }),
      prefixLength: size === largest ? prefixLength : 0,
    });
    opened.catch(() => {});
    openings.set(digest, { opened, stop });
  }
  return openings;
}
