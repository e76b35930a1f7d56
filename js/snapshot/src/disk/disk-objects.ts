/** The objects that have the missing frames of a disk. */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { checkPinned } from "../check.js";
import type { DecodeJob } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import type { FetcherPool } from "../fetch/fetch-frames.js";
import type { FetchedObject } from "../fetch/fetch-worker.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { backoff } from "../http/retry.js";
import type { RemoteLocation } from "../location/location.js";
import type { OpenObjects } from "../location/open-object.js";
import { requestAt } from "../location/request-at.js";
import { openSource, type Source, type SourceOptions } from "../location/source.js";

/** Errors of a snapshot that no retry can fix. */
const PERMANENT: ReadonlySet<string> = new Set([
  ...["ERR_SNAPSHOT_FORMAT", "ERR_SNAPSHOT_DIGEST", "ERR_SOURCE_CHANGED", "ERR_WORKER"],
  // The image of a base cannot be read.
  "ERR_CACHE",
]);

/** How long a known snapshot is opened later than its disk, in milliseconds: first readers have the thread and the link. */
const OPENING_DELAY = 100;

/** The objects of a disk, which may still be being opened. */
export interface DiskObjects {
  readonly opened: Promise<OpenObjects>;
  /** How to read the snapshot until then: it may have been replaced, or the server may redirect. */
  readonly assumed?: FetchedObject | undefined;
  /** The workers that were started early, for the first fill. */
  readonly fetchers?: FetcherPool | undefined;
  /** Closes the objects, unless the snapshot does. */
  close?(): Promise<void>;
}

/**
 * Opens the objects of a snapshot whose manifest is known already: in the background, so that readers do not wait for it.
 *
 * @param signal aborted when the disk is closed
 */
export async function openLater(
  location: RemoteLocation,
  opening: SourceOptions,
  { digest, fileSize: size }: SnapshotInfo,
  job: DecodeJob,
  signal: AbortSignal,
): Promise<DiskObjects> {
  const { request, name } = await requestAt(location, opening.options);
  const endpoint = { url: request.url.href, headers: request.secret };
  // Every frame is verified, so that no other version of the object can be mixed in.
  const version = { size, etag: undefined, lastModified: undefined };
  let source: Source | undefined;
  const open = async () => {
    const found = await openSource(location, { ...opening, wanted: "known disk" });
    try {
      checkPinned(found.name, digest, (await found.manifest()).info.digest);
      const objects = await found.objectsFor(job, signal);
      source = found;
      return objects;
    } catch (error) {
      await found.close();
      throw error;
    }
  };
  const opened = sleep(OPENING_DELAY, undefined, { signal }).then(() => untilDone(signal, open));
  opened.catch(() => {});
  const close = async () => {
    await opened.catch(() => {});
    await source?.close();
  };
  return { opened, assumed: { name, url: name, endpoint, version }, close };
}

/** Lets the caller that waits for the disk send its first requests, before other work takes the thread. */
export async function afterFirstReaders(): Promise<void> {
  // They are sent in the first turn of the event loop.
  for (let turn = 0; turn < 2; turn += 1) await setImmediate();
}

/** Repeats an action that fails, unless no retry can help. */
export async function untilDone<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SnapshotError && PERMANENT.has(error.code)) throw error;
      await sleep(backoff(failures), undefined, { signal });
    }
  }
}
