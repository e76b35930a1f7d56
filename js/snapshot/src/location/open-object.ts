import { emit } from "../events.js";
import { spool } from "../http/get.js";
import { RemoteObject } from "../http/remote-object.js";
import type { ServerRequest } from "../http/request.js";
import type { Transfer, TransferOptions } from "../http/transfer.js";
import { SnapshotFile } from "../local/open-file.js";
import type { WorkOptions } from "../workers/pool.js";
import type { Location } from "./location.js";
import { requestAt, withRequestAt } from "./server.js";

/** A local file, or an object on a server with ranges, that is open for reading. */
export type OpenObject = SnapshotFile | RemoteObject;

/** An object on a server without ranges, which has to be downloaded as a whole. */
class Stream {
  constructor(
    readonly request: ServerRequest,
    readonly name: string,
    readonly url: string,
  ) {}
}

/** An object that is open for reading, or has to be downloaded first. */
export type OpenedObject = OpenObject | Stream;

/** How an object is opened. */
export interface OpenHow {
  readonly options: TransferOptions & WorkOptions;
  readonly transfer: Transfer;
  /** How many bytes of its beginning to request together with its tail, or 0. */
  readonly prefixLength: number;
  /** How many bytes of its end to request. Default: enough for most manifests. */
  readonly tailLength?: number;
  /** Whether to leave its connection open for further requests. Default: `false`. */
  readonly keepsConnection?: boolean;
  /** Returns the object if it is being opened already. */
  readonly early?: () => Promise<OpenedObject | undefined>;
  /** Returns the name of the object in messages. @param place its path or URL, without secrets */
  readonly nameOf?: (place: string) => string;
}

/**
 * Opens objects, over as many connections as the caller allows, and calls `use` with them. Those on servers without
 * ranges are first downloaded into temporary files, one after the other.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`, and what `use` throws
 */
export async function withObjects<T>(
  locations: readonly (Location | undefined)[],
  howOf: (number: number) => OpenHow,
  use: (objects: (OpenObject | undefined)[]) => Promise<T>,
): Promise<T> {
  const opened = new Array<OpenedObject | undefined>(locations.length).fill(undefined);
  const waiting = locations.entries();
  const openNext = async () => {
    for (const [number, location] of waiting)
      if (location !== undefined) opened[number] = await takeOrOpen(location, howOf(number));
  };
  try {
    const { connections = locations.length } = howOf(0).transfer;
    const openings = Array.from({ length: Math.min(connections, locations.length) }, openNext);
    for (const result of await Promise.allSettled(openings))
      if (result.status === "rejected") throw result.reason;
    return await withStreams(opened, howOf, use);
  } finally {
    await Promise.all(opened.map((one) => one && closeObject(one)));
  }
}

async function takeOrOpen(location: Location, how: OpenHow): Promise<OpenedObject> {
  return (await how.early?.()) ?? openObject(location, how);
}

/** Opens an object, which the caller closes. @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT` */
export async function openObject(location: Location, how: OpenHow): Promise<OpenedObject> {
  const { options, transfer, nameOf = (place) => place, early: _, ...requested } = how;
  if (location.kind === "file") return SnapshotFile.open(location.path, nameOf(location.path));
  const { signal } = options;
  const locate = async () => (await requestAt(location, options)).request;
  return withRequestAt(location, options, async ({ request, name: url }) => {
    const name = nameOf(url);
    const opened = await RemoteObject.open(request, {
      ...{ ...requested, name, url, locate, transfer, signal },
    });
    return opened ?? new Stream(request, name, url);
  });
}

/** Closes an object. */
export async function closeObject(object: OpenedObject): Promise<void> {
  if (!(object instanceof Stream)) await object.close();
}

/** Replaces the streams by temporary files, from the last on. */
async function withStreams<T>(
  objects: readonly (OpenedObject | undefined)[],
  howOf: (number: number) => OpenHow,
  use: (objects: (OpenObject | undefined)[]) => Promise<T>,
): Promise<T> {
  const number = objects.findLastIndex((object) => object instanceof Stream);
  const stream = objects[number];
  if (!(stream instanceof Stream)) return use(objects as (OpenObject | undefined)[]);
  const { transfer, options } = howOf(number);
  warnOfNoRanges(stream);
  return spool(stream.request, stream.name, transfer, options.signal, (file) =>
    withStreams(objects.with(number, file), howOf, use),
  );
}

/** Explains why the transfer is slow. */
function warnOfNoRanges({ name, url }: Stream): void {
  emit("hedgerow:snapshot:no-ranges", { url });
  process.emitWarning(
    `${name}: the server has no ranges; downloading the whole snapshot in one stream`,
    {
      code: "HEDGEROW_NO_RANGES",
    },
  );
}
