import { unlessAborted } from "../abort.js";
import { decodeFrames } from "../decode/decode-frames.js";
import type { DecodeJob } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { type FetcherPool, fetchFrames, withFetchers } from "../fetch/fetch-frames.js";
import { type Manifest, readManifest } from "../format/manifest.js";
import { strongEtag } from "../http/read/object-version.js";
import { RemoteObject } from "../http/read/remote-object.js";
import { spool } from "../http/read/spool.js";
import type { FileId } from "../local/same-file.js";
import { SnapshotFile } from "../local/snapshot-file.js";
import { type Transfer, type TransferOptions, transferOf } from "../options/transfer-options.js";
import type { WorkOptions } from "../options/work-options.js";
import type { Location } from "./location.js";
import { type NamedRequest, requestAt } from "./server.js";

/** The largest prefetch of the beginning of a snapshot, in bytes. It is held in memory. */
const MAX_PREFIX = 2 ** 23;

/** A snapshot that is open for reading. */
export interface Source {
  /** The name of the snapshot in messages. */
  readonly name: string;
  /** The identity of the file, if the snapshot is local. */
  readonly id: FileId | undefined;
  /** The strong ETag, if the server sends one. */
  readonly etag: string | undefined;
  /** Reads the manifest. `isStrict` checks the header, too. @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT` */
  manifest(isStrict?: boolean): Promise<Manifest>;
  /** Reads and decodes the frames of a job. */
  decode(job: DecodeJob, options: WorkOptions): Promise<void>;
}

/** How a source is opened. */
export interface SourceOptions {
  readonly options: TransferOptions & WorkOptions;
  /**
   * The part of the snapshot that will be read: its manifest, everything, or what an earlier run did not
   * restore. Only for everything is the beginning prefetched.
   */
  readonly wanted: "info" | "all" | "rest";
}

/**
 * Opens a snapshot, and calls `use` with it.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`, and what `use` throws
 */
export async function withSource<T>(
  location: Location,
  how: SourceOptions,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  // Check the transfer options for local files, too.
  const transfer = transferOf(how.options);
  const { signal } = how.options;
  signal?.throwIfAborted();
  if (location.kind === "file") {
    return withFile(await SnapshotFile.open(location.path), signal, use);
  }
  const remote: Remote = { ...(await requestAt(location, how.options)), transfer, ...how };
  if (how.wanted === "info") return withObject(remote, undefined, use);
  // Start the workers while the request for the end of the snapshot runs.
  return withFetchers(how.options, (pool) => withObject(remote, pool, use));
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

/** A snapshot on a server, and how it is opened. */
interface Remote extends SourceOptions, NamedRequest {
  readonly transfer: Transfer;
}

async function withObject<T>(
  { request, name, transfer, options, wanted }: Remote,
  pool: FetcherPool | undefined,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  // The prefetch uses an extra connection, so do without it if the caller limits their number.
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
      async decode(job, workOptions) {
        // A pool ends with its job: only the first job uses the pool that was started early.
        const started = pool;
        pool = undefined;
        if (started !== undefined) return fetchFrames(started, object, job, workOptions);
        return withFetchers(workOptions, (own) => fetchFrames(own, object, job, workOptions));
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
    decode: (job, options) => decodeFrames(file, job, options),
  };
}

/** Reads the manifest of an object. If it is damaged, the end of the object is requested once more. */
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

/** Explains why the transfer is slow. */
function warnOfNoRanges(name: string): void {
  emit("hedgerow:snapshot:no-ranges", { url: name });
  process.emitWarning(
    `${name}: the server has no ranges; downloading the whole snapshot in one stream`,
    {
      code: "HEDGEROW_NO_RANGES",
    },
  );
}
