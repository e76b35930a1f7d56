import { unlessAborted } from "../abort.js";
import { type Checks, DIGEST, FUNCTION, SIGNAL } from "../check.js";
import { type DecodeJob, decodeFrames } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import { type FetcherPool, fetchFrames, startFetchers } from "../fetch/fetch-frames.js";
import { type Manifest, readManifest } from "../format/manifest.js";
import { DENIED } from "../http/failure.js";
import { strongEtag } from "../http/object-version.js";
import { RemoteObject } from "../http/remote-object.js";
import {
  TRANSFER_CHECKS,
  type Transfer,
  type TransferOptions,
  transferOf,
} from "../http/transfer.js";
import { checkDifferentFile, type FileId, SnapshotFile } from "../local/open-file.js";
import { checkLengthSync } from "../local/read-write.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { BACKGROUND, type WorkOptions } from "../workers/pool.js";
import {
  type BaseOptions,
  EarlyBases,
  type KnownBase,
  openBaseObjects,
  type Resolve,
} from "./base-objects.js";
import type { Location } from "./location.js";
import {
  closeObjects,
  type OpenObject,
  type OpenObjects,
  openObject,
  openObjects,
} from "./open-object.js";

/** Options of every function that reads a snapshot. */
export interface ReadOptions extends TransferOptions {
  /**
   * Identity that the snapshot must have, as 64 hexadecimal digits: any other snapshot is an
   * `ERR_SNAPSHOT_DIGEST`. Default: any snapshot is accepted.
   */
  readonly digest?: string | undefined;
  /**
   * Returns the locations of the base objects of a delta. Their bytes are verified, so the locations need not be
   * trusted. Default: the references in the delta.
   */
  readonly resolve?: Resolve | undefined;
  /** Aborts the operation: the promise is rejected with the signal's reason, and no file is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every function that reads a whole snapshot. */
export interface ReadWorkOptions extends WorkOptions, ReadOptions {}

/** The checks of {@link ReadOptions}. */
export const READ_CHECKS: Checks<ReadOptions> = {
  ...TRANSFER_CHECKS,
  digest: DIGEST,
  resolve: FUNCTION,
  signal: SIGNAL,
};

/** The requests that open a snapshot, and the workers that start at the same time. */
interface Beginning {
  /** How many bytes of its beginning, at most. They are held in memory. */
  readonly prefixLength: number;
  /** How many bytes of its end. Default: enough for most manifests, and then some frames. */
  readonly tailLength?: number;
  /** Whether the connection stays open for further requests. Default: `false`. */
  readonly keepsConnection?: boolean;
  /** The maximum number of workers, and their niceness. Default: those of `startFetchers`; `false` for none. */
  readonly workers?: Parameters<typeof startFetchers>[1] | false;
}

/** The end of a snapshot for a disk: the manifest of a full snapshot of 16 GiB. Readers use its connection. */
const DISK_TAIL = { tailLength: 5 * 2 ** 16, keepsConnection: true };

/** The requests that open a snapshot, by the part of it that is wanted. */
const BEGINNINGS: Readonly<Record<SourceOptions["wanted"], Beginning>> = {
  info: { prefixLength: 0, workers: false },
  all: { prefixLength: 2 ** 23 },
  rest: { prefixLength: 0 },
  // The frame with which file systems begin. One worker, because the first readers need a processor, too.
  disk: { prefixLength: 2 ** 19, ...DISK_TAIL, workers: { max: 1, niceness: BACKGROUND } },
  "known disk": { prefixLength: 0, ...DISK_TAIL, workers: false },
};

/** Options of {@link openSource}. */
export interface SourceOptions {
  readonly options: BaseOptions["options"];
  /**
   * The part of the snapshot that will be read: "info" is its manifest; "rest" what an earlier run did not restore;
   * "disk" what readers of a disk need first; "known disk" the same, when its manifest is known and readers have begun.
   */
  readonly wanted: "info" | "all" | "rest" | "disk" | "known disk";
  /** Whether workers start at the same time, if that part needs any. Default: `true`. */
  readonly startsWorkers?: boolean | undefined;
  /** Returns base objects that the snapshot is known to have, to open them at once. Default: none are known. */
  readonly bases?: (() => Promise<readonly KnownBase[]>) | undefined;
}

/** Opens a snapshot, which the caller closes. @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT` */
export async function openSource(
  location: Location,
  { options, wanted, startsWorkers = true, bases: knownBases }: SourceOptions,
): Promise<Source> {
  const transfer = transferOf(options);
  options.signal?.throwIfAborted();
  const { prefixLength: maxPrefix, workers, ...tail } = BEGINNINGS[wanted];
  // The prefetch uses an extra connection, so do without it if the caller limits their number.
  const isLimited = transfer.connections !== undefined;
  const prefixLength = isLimited ? 0 : Math.min(transfer.partSize, maxPrefix);
  const opening = { options, transfer, prefixLength, ...tail };
  const isRemote = location.kind !== "file";
  // While the request for the end of the snapshot runs, compile what reads it, and start the workers.
  if (isRemote) compiledDecode().catch(() => {});
  const fetchers =
    isRemote && startsWorkers && workers !== false ? startFetchers(options, workers) : undefined;
  // Base objects need connections of their own, too.
  const bases = isRemote && !isLimited ? knownBases?.() : undefined;
  const early = bases && new EarlyBases(location, bases, opening);
  try {
    const [object] = await openObjects([location], transfer, options.signal, () =>
      openObject(location, opening),
    );
    return new Source({ location, ...opening, early }, object as OpenObject, fetchers);
  } catch (error) {
    await early?.close();
    await fetchers?.end();
    throw error;
  }
}

/** Where a source was opened, and how. */
interface Opening extends BaseOptions {
  readonly location: Location;
  readonly early: EarlyBases | undefined;
}

/** A snapshot that is open for reading, with the base objects and the workers that it needs. */
export class Source {
  /** The name of the snapshot in messages. */
  readonly name: string;
  /** The ID of the file, if the snapshot is local. */
  readonly id: FileId | undefined;
  /** The strong ETag, if the server sends one. */
  readonly etag: string | undefined;
  readonly #opening: Opening;
  readonly #object: OpenObject;
  readonly #bases: (OpenObject | undefined)[] = [];
  readonly #started: FetcherPool | undefined;
  #fetchers: FetcherPool | undefined;

  /** @internal */
  constructor(opening: Opening, object: OpenObject, fetchers: FetcherPool | undefined) {
    this.name = object.name;
    this.id = object instanceof SnapshotFile ? object.id : undefined;
    this.etag = object instanceof SnapshotFile ? undefined : strongEtag(object.version.etag);
    this.#opening = opening;
    this.#object = object;
    this.#started = fetchers;
    this.#fetchers = fetchers;
  }

  /** The workers that were started early, until a job uses them. */
  get fetchers(): FetcherPool | undefined {
    return this.#fetchers;
  }

  /** Reads the manifest. `isStrict` checks the header, too. @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT` */
  manifest(isStrict?: boolean): Promise<Manifest> {
    const object = this.#object;
    return object instanceof SnapshotFile
      ? unlessAborted(readManifest(object, isStrict), this.#opening.options.signal)
      : manifestOf(object, isStrict);
  }

  /** Reads and decodes the frames of a job, of the snapshot and of its base objects. */
  async decode(job: DecodeJob, options: WorkOptions): Promise<void> {
    // A pool ends with its job: only the first job uses the pool that was started early.
    const started = this.#fetchers;
    this.#fetchers = undefined;
    const objects = await this.objectsFor(job, options.signal);
    await decodeRenewing(objects, this.#opening.transfer, job, options, started);
  }

  /** Opens the objects that hold the missing frames of a job, until the source is closed. */
  async objectsFor(job: DecodeJob, signal: AbortSignal | undefined): Promise<OpenObjects> {
    const { location, transfer, options, keepsConnection = false, early } = this.#opening;
    const { frames, info } = job.manifest;
    const wanted = new Set([...job.states.missing()].map((frame) => frames.object(frame)));
    const bases = await openBaseObjects(
      location,
      info.delta?.objects ?? [],
      (number) => wanted.has(number),
      { transfer, keepsConnection, options: { ...options, signal } },
      early,
    );
    this.#bases.push(...bases);
    await early?.close();
    for (const base of bases) {
      const isRead = job.image !== undefined && base instanceof SnapshotFile;
      if (isRead) await checkDifferentFile("image", job.image.name, base.id);
    }
    return [this.#object, ...bases];
  }

  /** Closes the snapshot and its base objects, and ends its workers. */
  async close(): Promise<void> {
    await closeObjects([this.#object, ...this.#bases]);
    await this.#opening.early?.close();
    await this.#started?.end();
  }
}

/**
 * Decodes the frames of a job. If a server refuses a signature, because it is too old or its credentials were replaced, signs
 * anew and decodes the rest. After that, there must be progress.
 */
async function decodeRenewing(
  objects: OpenObjects,
  transfer: Transfer,
  job: DecodeJob,
  options: WorkOptions,
  started: FetcherPool | undefined,
): Promise<void> {
  // A pool ends with its job.
  for (let [pool, frames] = [started, -1]; ; pool = undefined) {
    try {
      return await decodeFrom(objects, transfer, job, options, pool);
    } catch (error) {
      job.recover();
      const hasProgress = job.counters.counts.frames > frames;
      const isDenied = error instanceof SnapshotError && DENIED.has(error.status);
      if (!hasProgress || !isDenied || !(await renewAll(objects))) throw error;
      frames = job.counters.counts.frames;
    }
  }
}

/** Renews the locations of objects on servers. Returns whether that was possible for all, and any has changed. */
export async function renewAll(objects: OpenObjects): Promise<boolean> {
  const remote = objects.filter((one) => one instanceof RemoteObject);
  const endpoints = () => remote.map(({ endpoint }) => JSON.stringify(endpoint));
  const before = endpoints();
  const results = await Promise.allSettled(remote.map((one) => one.renew()));
  const isRenewed = results.every(({ status }) => status === "fulfilled");
  return isRenewed && endpoints().some((endpoint, at) => endpoint !== before[at]);
}

/** Decodes the frames of a job from open objects, by their number: first those in files. */
export async function decodeFrom(
  objects: OpenObjects,
  transfer: Transfer,
  job: DecodeJob,
  options: WorkOptions,
  pool: FetcherPool | undefined,
): Promise<void> {
  const files = objects.map((one) => (one instanceof SnapshotFile ? one : undefined));
  const remote = objects.map((one) => (one instanceof RemoteObject ? one : undefined));
  const isRemote = remote.some((one) => one !== undefined);
  const hasFiles = files.some((one) => one !== undefined);
  if (!isRemote || (hasFiles && job.order.isAll)) await decodeFrames(files, job, options);
  if (isRemote) {
    const fetchers = pool ?? startFetchers(options, { niceness: job.image?.niceness });
    try {
      await fetchFrames(fetchers, remote, transfer, job, options);
    } finally {
      await fetchers.end();
    }
  }
  const { image, manifest } = job;
  if (image !== undefined) checkLengthSync("ERR_TARGET", image, manifest.info.imageSize);
}

/** Reads the manifest of an object. If it is damaged, requests the end of the object again. */
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
