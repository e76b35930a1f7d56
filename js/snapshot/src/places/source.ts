import { unlessAborted } from "../abort.js";
import { decodeFrames } from "../decode/decode-frames.js";
import type { FrameWork } from "../decode/frame-work.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { type FetcherPool, fetchFrames, withFetchers } from "../fetch/fetch-frames.js";
import { type Manifest, readManifest } from "../format/manifest.js";
import { strongEtag } from "../http/read/object-version.js";
import { RemoteObject } from "../http/read/remote-object.js";
import { spool } from "../http/read/spool.js";
import type { FileId } from "../local/other-file.js";
import { SnapshotFile } from "../local/snapshot-file.js";
import { type Transfer, type TransferOptions, transferOf } from "../options/transfer-options.js";
import type { WorkOptions } from "../options/work-options.js";
import type { Location } from "./location.js";
import { type Asked, askedAt } from "./server.js";

/** How much of the beginning is asked for together with the end at most, in bytes: it is kept in memory. */
const MAX_PREFIX = 2 ** 23;

/** A snapshot that is open for reading, wherever it is. */
export interface Source {
  /** What it is called in messages. */
  readonly name: string;
  /** Which file it is, if it is one. */
  readonly id: FileId | undefined;
  /** The server's name for this very content, if it is on one that has such names. */
  readonly etag: string | undefined;
  /** Reads its manifest. `isStrict` looks at its header, too. @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT` */
  manifest(isStrict?: boolean): Promise<Manifest>;
  /** Decodes all frames that are to be decoded. */
  decode(work: FrameWork, options: WorkOptions): Promise<void>;
}

/** How a source is opened. */
export interface SourceOptions {
  readonly options: TransferOptions & WorkOptions;
  /**
   * What is wanted of it: what it says of itself, all of it, or what an earlier run has not restored, which
   * may not be its beginning.
   */
  readonly wanted: "info" | "all" | "rest";
}

/**
 * Opens a snapshot, and has `use` make something of it.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`, and what `use` throws
 */
export async function withSource<T>(
  location: Location,
  how: SourceOptions,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  // Whatever is wrong with them is told for files as well.
  const transfer = transferOf(how.options);
  const { signal } = how.options;
  signal?.throwIfAborted();
  if (location.kind === "file") {
    return withFile(await SnapshotFile.open(location.path), signal, use);
  }
  const asked = await askedAt(location, how.options);
  return withRequest({ ...asked, transfer, ...how }, use);
}

async function withFile<T>(
  file: SnapshotFile,
  signal: AbortSignal | undefined,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  try {
    return await use(sourceOf(file, signal));
  } finally {
    await file.close();
  }
}

/** A source on a server. */
interface Remote extends SourceOptions, Asked {
  readonly transfer: Transfer;
}

function withRequest<T>(remote: Remote, use: (source: Source) => Promise<T>): Promise<T> {
  if (remote.wanted === "info") return withObject(remote, undefined, use);
  // Threads get ready while the end is on its way.
  return withFetchers(remote.options, (pool) => withObject(remote, pool, use));
}

async function withObject<T>(
  { request, name, transfer, options, wanted }: Remote,
  pool: FetcherPool | undefined,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  // It takes a connection besides those that were said.
  const wantsPrefix = wanted === "all" && transfer.connections === undefined;
  const prefixLength = wantsPrefix ? Math.min(transfer.partSize, MAX_PREFIX) : 0;
  const object = await RemoteObject.open(request, { name, transfer, signal, prefixLength });
  if (object === undefined) {
    warnOfNoRanges(name);
    return spool(request, name, transfer, signal, (file) => use(sourceOf(file, signal)));
  }
  try {
    return await use({
      name,
      id: undefined,
      etag: strongEtag(object.version.etag),
      manifest: (isStrict) => manifestOf(object, isStrict),
      async decode(work, workOptions) {
        // Threads end with what they did: what is done again has others.
        const ready = pool;
        pool = undefined;
        if (ready !== undefined) return fetchFrames(ready, object, work, workOptions);
        return withFetchers(workOptions, (own) => fetchFrames(own, object, work, workOptions));
      },
    });
  } finally {
    await object.close();
  }
}

function sourceOf(file: SnapshotFile, signal: AbortSignal | undefined): Source {
  const { name, id } = file;
  return {
    name,
    id,
    etag: undefined,
    manifest: (isStrict) => unlessAborted(readManifest(file, isStrict), signal),
    decode: (work, options) => decodeFrames(file, work, options),
  };
}

/** The manifest of an object. One that came damaged is asked for once more. */
async function manifestOf(object: RemoteObject, isStrict?: boolean): Promise<Manifest> {
  try {
    return await readManifest(object, isStrict);
  } catch (error) {
    if (!(error instanceof SnapshotError) || error.code !== "ERR_SNAPSHOT_FORMAT") throw error;
    if (object.size === 0) throw error;
    await object.refresh();
    return readManifest(object, isStrict);
  }
}

/** Says why it takes as long as it does. */
function warnOfNoRanges(name: string): void {
  emit("hedgerow:snapshot:no-ranges", { url: name });
  process.emitWarning(`${name}: the server has no ranges; all of it is fetched in one stream`, {
    code: "HEDGEROW_NO_RANGES",
  });
}
