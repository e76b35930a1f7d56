/** The base objects of a delta: where they are, and how they are opened, maybe before its manifest names them. */
import { unlessAborted } from "../abort.js";
import { messageOf, SnapshotError } from "../error.js";
import type { BaseObject } from "../format/manifest.js";
import type { TransferOptions } from "../http/transfer.js";
import type { WorkOptions } from "../workers/pool.js";
import { type Location, locationOf, referencedFrom } from "./location.js";
import {
  closeObjects,
  type OpenedObject,
  type OpenHow,
  type OpenObjects,
  openObject,
  openObjects,
} from "./open-object.js";
import type { Resolve } from "./source.js";

/** How the base objects of a delta are opened. */
export interface BaseObjectsHow extends Pick<OpenHow, "transfer" | "keepsConnection"> {
  readonly options: TransferOptions & WorkOptions & { readonly resolve?: Resolve | undefined };
}

/** Returns how a base object of a delta is opened. */
function howOfBase(
  delta: Location,
  location: Location | undefined,
  digest: string,
  { options, ...how }: BaseObjectsHow,
): OpenHow {
  return {
    ...how,
    options: optionsFor(delta, location, options),
    // Its manifest is not needed: a byte tells the size and the version.
    ...{ prefixLength: 0, tailLength: 1 },
    nameOf: (place) => `base object ${digest} (${place})`,
  };
}

/**
 * Opens base objects of a delta, by their number minus 1. The caller closes them.
 *
 * @param delta the location of the delta
 * @param isNeeded whether to open an object, by its number
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_DIGEST`, and what the option `resolve` throws
 */
export async function openBaseObjects(
  delta: Location,
  objects: readonly BaseObject[],
  isNeeded: (number: number) => boolean,
  { early, ...how }: BaseObjectsHow & { readonly early?: EarlyBases | undefined },
): Promise<OpenObjects> {
  const locations = await Promise.all(
    objects.map(async (object, at) =>
      isNeeded(at + 1) ? baseLocation(delta, object, how.options) : undefined,
    ),
  );
  const howOf = (at: number): OpenHow => {
    const { digest = "" } = objects[at] ?? {};
    const opening = howOfBase(delta, locations[at], digest, how);
    return early === undefined ? opening : { ...opening, early: () => early.take(digest) };
  };
  const opened = await openObjects(locations, howOf);
  for (const [at, object] of opened.entries()) {
    const { size } = objects[at] as BaseObject;
    if (object === undefined || object.size === size) continue;
    await closeObjects(opened);
    const message = `${object.name}: expected ${size} bytes, found ${object.size}`;
    throw new SnapshotError("ERR_SNAPSHOT_DIGEST", message);
  }
  return opened;
}

/**
 * Returns the location of a base object: the one that `resolve` returns, or else the reference in the delta.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`, what `resolve` throws, and the signal's reason
 */
export async function baseLocation(
  delta: Location,
  object: BaseObject,
  options: BaseObjectsHow["options"],
): Promise<Location> {
  const location = await knownLocation(delta, object, options);
  if (location !== undefined) return location;
  const message = `base object ${object.digest} is not in the folder of the delta; pass resolve to locate it`;
  throw new SnapshotError("ERR_SOURCE", message);
}

/**
 * Returns the location of a base object, or undefined if neither `resolve` nor the delta name one.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`, and what `resolve` throws
 */
export async function knownLocation(
  delta: Location,
  { digest, reference }: BaseObject,
  { resolve, signal }: Pick<BaseObjectsHow["options"], "resolve" | "signal">,
): Promise<Location | undefined> {
  const resolved = await unlessAborted(Promise.resolve(resolve?.(digest)), signal);
  if (resolved === undefined) {
    return reference === "" ? undefined : referencedFrom(delta, reference);
  }
  try {
    return locationOf("resolve", resolved);
  } catch (cause) {
    const message = `base object ${digest}: ${messageOf(cause)}`;
    throw new SnapshotError("ERR_ARGUMENT", message, { cause });
  }
}

/**
 * Returns options for a second location, without headers if it is not on the server of the first: the headers of the
 * caller are for that server.
 */
export function optionsFor<Options extends TransferOptions>(
  first: Location,
  second: Location | undefined,
  options: Options,
): Options {
  if (first.kind !== "http") return options;
  const isSameOrigin = second?.kind === "http" && second.url.origin === first.url.origin;
  return isSameOrigin ? options : { ...options, headers: undefined };
}

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
      // The manifest will name those that are needed.
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
      if (result.status === "fulfilled") await closeObjects([result.value]);
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
