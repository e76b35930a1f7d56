import { emit } from "../events.js";
import { spool } from "../http/get.js";
import { RemoteObject } from "../http/remote-object.js";
import type { ServerRequest } from "../http/request.js";
import type { Transfer, TransferOptions } from "../http/transfer.js";
import { SnapshotFile } from "../local/open-file.js";
import type { WorkOptions } from "../workers/pool.js";
import type { Location } from "./location.js";
import { requestAt, withRequestAt } from "./request-at.js";

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

/** Options of {@link openObject}. */
export interface ObjectOptions {
  readonly options: TransferOptions & WorkOptions;
  readonly transfer: Transfer;
  /** How many bytes of its beginning to request together with its tail, or 0. */
  readonly prefixLength: number;
  /** How many bytes of its end to request. Default: enough for most manifests. */
  readonly tailLength?: number;
  /** Whether to leave its connection open for further requests. Default: `false`. */
  readonly keepsConnection?: boolean;
  /** Returns the name of the object in messages. @param place its path or URL, without secrets */
  readonly nameOf?: (place: string) => string;
}

/** Open objects by their number: the snapshot, then its base objects. Undefined for those that are not needed. */
export type OpenObjects = readonly (OpenObject | undefined)[];

/**
 * Opens objects, over as many connections as the caller allows. Those on servers without ranges are downloaded into
 * temporary files, one after the other. The caller closes them.
 *
 * @param open opens one of them, by its position
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`
 */
export async function openObjects(
  locations: readonly (Location | undefined)[],
  transfer: Transfer,
  signal: AbortSignal | undefined,
  open: (location: Location, at: number) => Promise<OpenedObject>,
): Promise<OpenObjects> {
  const opened = new Array<OpenedObject | undefined>(locations.length).fill(undefined);
  const waiting = locations.entries();
  const openNext = async () => {
    for (const [at, location] of waiting)
      if (location !== undefined) opened[at] = await open(location, at);
  };
  try {
    const { connections = locations.length } = transfer;
    const openings = Array.from({ length: Math.min(connections, locations.length) }, openNext);
    for (const result of await Promise.allSettled(openings))
      if (result.status === "rejected") throw result.reason;
    for (const [at, object] of opened.entries())
      if (object instanceof Stream) opened[at] = await download(object, transfer, signal);
    return opened as OpenObjects;
  } catch (error) {
    await closeObjects(opened);
    throw error;
  }
}

/** Opens an object, which the caller closes. @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT` */
export async function openObject(
  location: Location,
  { options, nameOf = (place) => place, ...requested }: ObjectOptions,
): Promise<OpenedObject> {
  if (location.kind === "file") return SnapshotFile.open(location.path, nameOf(location.path));
  const { signal } = options;
  const locate = async () => (await requestAt(location, options)).request;
  return withRequestAt(location, options, async ({ request, name: url }) => {
    const name = nameOf(url);
    const opened = await RemoteObject.open(request, { ...requested, name, url, locate, signal });
    return opened ?? new Stream(request, name, url);
  });
}

/** Closes objects. */
export async function closeObjects(objects: readonly (OpenedObject | undefined)[]): Promise<void> {
  await Promise.all(objects.map((one) => (one instanceof Stream ? undefined : one?.close())));
}

/** Downloads an object as a whole, and explains why the transfer is slow. */
function download(
  { request, name, url }: Stream,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<SnapshotFile> {
  emit("hedgerow:snapshot:no-ranges", { url });
  const message = `${name}: the server has no ranges; downloading the whole snapshot in one stream`;
  process.emitWarning(message, { code: "HEDGEROW_NO_RANGES" });
  return spool(request, name, transfer, signal);
}
