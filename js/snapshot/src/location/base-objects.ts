/** The base objects of a delta: where they are, and how they are opened, maybe before its manifest names them. */
import { unlessAborted } from "../abort.js";
import { messageOf, SnapshotError } from "../error.js";
import type { BaseObject } from "../format/manifest.js";
import type { TransferOptions } from "../http/transfer.js";
import type { WorkOptions } from "../workers/pool.js";
import { type Location, locationOf, referencedFrom } from "./location.js";
import {
  closeObjects,
  type ObjectOptions,
  type OpenedObject,
  type OpenObjects,
  openObject,
  openObjects,
} from "./open-object.js";

/**
 * Returns where a base object of a delta is, or undefined to use the reference in the delta.
 *
 * @param digest the identity of the object, as 64 hexadecimal digits
 */
export type Resolve = (
  digest: string,
) => string | URL | undefined | Promise<string | URL | undefined>;

/** Options of {@link openBaseObjects}. */
export interface BaseOptions extends Pick<ObjectOptions, "transfer" | "keepsConnection"> {
  readonly options: TransferOptions & WorkOptions & { readonly resolve?: Resolve | undefined };
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
  options: BaseOptions,
  early?: EarlyBases,
): Promise<OpenObjects> {
  const locations = await Promise.all(
    objects.map(async (object, at) =>
      isNeeded(at + 1) ? baseLocation(delta, object, options.options) : undefined,
    ),
  );
  const { signal } = options.options;
  const opened = await openObjects(locations, options.transfer, signal, async (location, at) => {
    const { digest } = objects[at] as BaseObject;
    return (await early?.take(digest)) ?? openBase(delta, location, digest, options);
  });
  for (const [at, object] of opened.entries()) {
    const { size } = objects[at] as BaseObject;
    if (object === undefined || object.size === size) continue;
    await closeObjects(opened);
    const message = `${object.name}: expected ${size} bytes, found ${object.size}`;
    throw new SnapshotError("ERR_SNAPSHOT_DIGEST", message);
  }
  return opened;
}

/** Opens a base object of a delta. */
function openBase(
  delta: Location,
  location: Location,
  digest: string,
  { options, ...opening }: BaseOptions,
  prefixLength = 0,
): Promise<OpenedObject> {
  return openObject(location, {
    ...opening,
    options: optionsFor(delta, location, options),
    prefixLength,
    // Its manifest is not needed: a byte tells the size and the version.
    tailLength: 1,
    nameOf: (place) => `base object ${digest} (${place})`,
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
  options: BaseOptions["options"],
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
  { resolve, signal }: Pick<BaseOptions["options"], "resolve" | "signal">,
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

/** A base object that is being opened. `stop` ends that, unless it was taken. */
interface EarlyBase {
  readonly opened: Promise<OpenedObject>;
  readonly stop: AbortController;
}

/** Base objects that are opened before the manifest of the delta is known. */
export class EarlyBases {
  readonly #openings: Promise<Map<string, EarlyBase>>;

  /** @param prefixLength how many bytes of the beginning of the largest one to request, which has most of the image */
  constructor(
    delta: Location,
    bases: Promise<readonly KnownBase[]>,
    { prefixLength, options, ...opening }: BaseOptions & { readonly prefixLength: number },
  ) {
    const openAll = (known: readonly KnownBase[]) => {
      const largest = Math.max(...known.map(({ size }) => size));
      const openings = new Map<string, EarlyBase>();
      for (const { digest, location, size } of known) {
        if (location.kind === "file") continue;
        const stop = new AbortController();
        const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
        const stoppable = { ...opening, options: { ...options, signal } };
        const opened = openBase(
          delta,
          location,
          digest,
          stoppable,
          size === largest ? prefixLength : 0,
        );
        opened.catch(() => {});
        openings.set(digest, { opened, stop });
      }
      return openings;
    };
    // If none are known, the manifest will name those that are needed.
    this.#openings = bases.then(openAll, () => new Map());
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
