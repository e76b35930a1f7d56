import { unlessAborted } from "../abort.js";
import { messageOf, SnapshotError } from "../error.js";
import type { BaseObject } from "../format/manifest.js";
import type { TransferOptions } from "../http/transfer.js";
import type { WorkOptions } from "../workers/pool.js";
import type { EarlyBases } from "./early-bases.js";
import { type Location, locationOf, referencedFrom } from "./location.js";
import { type OpenHow, type OpenObject, withObjects } from "./open-object.js";
import type { Resolve } from "./source.js";

/** How the base objects of a delta are opened. */
export interface BaseObjectsHow extends Pick<OpenHow, "transfer" | "keepsConnection"> {
  readonly options: TransferOptions & WorkOptions & { readonly resolve?: Resolve | undefined };
}

/** Returns how a base object of a delta is opened. */
export function howOfBase(
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
 * Opens base objects of a delta, and calls `use` with them, by their number minus 1.
 *
 * @param delta the location of the delta
 * @param isNeeded whether to open an object, by its number
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_DIGEST`, and what `use` and the option `resolve` throw
 */
export async function withBaseObjects<T>(
  delta: Location,
  objects: readonly BaseObject[],
  isNeeded: (number: number) => boolean,
  { early, ...how }: BaseObjectsHow & { readonly early?: EarlyBases | undefined },
  use: (objects: (OpenObject | undefined)[]) => Promise<T>,
): Promise<T> {
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
  return withObjects(locations, howOf, async (opened) => {
    for (const [at, object] of opened.entries()) {
      const { size } = objects[at] as BaseObject;
      if (object === undefined || object.size === size) continue;
      const message = `${object.name}: expected ${size} bytes, found ${object.size}`;
      throw new SnapshotError("ERR_SNAPSHOT_DIGEST", message);
    }
    return use(opened);
  });
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
