/** Fills the image of a disk in the background, and gives way to readers. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Checks, integer, oneOf } from "../check.js";
import type { DecodeJob } from "../decode/decode-job.js";
import { SnapshotError } from "../error.js";
import type { FetcherPool } from "../fetch/fetch-frames.js";
import { DENIED } from "../http/failure.js";
import { RemoteObject } from "../http/remote-object.js";
import type { Transfer } from "../http/transfer.js";
import { withWriteback } from "../local/atomic-write.js";
import { freeSpace } from "../local/disk-space.js";
import { isUnkeepable } from "../local/system-errors.js";
import type { OpenObjects } from "../location/open-object.js";
import { decodeFrom, renewAll } from "../location/source.js";
import type { WorkOptions } from "../workers/pool.js";
import { type BaseImage, copyInherited } from "./base-image.js";
import type { DiskFiles } from "./disk-files.js";
import { afterFirstReaders, untilDone } from "./disk-objects.js";
import type { ImageLayout } from "./image-layout.js";
import type { DiskMonitor } from "./statistics.js";
import { checkTraceOption, framesOf, type Trace } from "./trace.js";

/** The size of the ranges of a fill whose rate is limited, in bytes: each is charged as a whole when it is requested. */
const LIMITED_PART_SIZE = 2 ** 21;

/** How often the state of a fill is made durable, in milliseconds. */
const SYNC_INTERVAL = 1_000;

/** How often to check whether readers have fetched everything, in milliseconds. */
const CHECK_INTERVAL = 100;

/** How much room a fill without room waits for, in bytes. */
const MIN_ROOM = 2 ** 24;

/** How often it looks for room, in milliseconds. */
const ROOM_INTERVAL = 1_000;

/** The maximum wait for a trace, in milliseconds. */
const MAX_TRACE_WAIT = 100;

/** Options of every function that opens a disk: which data to fetch, and when. */
export interface FillOptions {
  /**
   * Data to fetch in the background: all, so that the image becomes an ordinary file, or none. Default: `"all"`.
   */
  readonly fill?: "all" | "none" | undefined;
  /**
   * What an earlier disk read first, which is then fetched first, even if nothing else is: a trace, its location, or
   * `false` for none. A trace that is missing or not valid is left out. Default: `<snapshot>.trace` beside the snapshot.
   */
  readonly trace?: Trace | string | URL | false | undefined;
  /** The maximum rate of the fill, in bytes per second. At least 1. Default: unlimited. */
  readonly fillBytesPerSecond?: number | undefined;
  /**
   * What happens to readers if the server fails for longer than the retries last: they wait until it is back, or get an
   * error. Default: `"wait"`.
   */
  readonly onStall?: "wait" | "error" | undefined;
}

/** The checks of {@link FillOptions}. */
export const FILL_CHECKS: Checks<FillOptions> = {
  fill: oneOf("all", "none"),
  trace: checkTraceOption,
  fillBytesPerSecond: integer(1),
  onStall: oneOf("wait", "error"),
};

/** A fill of a disk. */
interface Fill {
  readonly files: DiskFiles;
  readonly base: BaseImage | undefined;
  readonly job: DecodeJob;
  readonly objects: Promise<OpenObjects>;
  /** The workers that were started early. */
  readonly fetchers: FetcherPool | undefined;
  readonly transfer: Transfer;
  readonly options: FillOptions & WorkOptions;
  readonly layout: ImageLayout;
  readonly monitor: DiskMonitor;
  readonly trace: Promise<Trace | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Fills the image of a disk, and gives it its name if it has everything then.
 *
 * @throws {SnapshotError} what reading the snapshot throws that no retry can fix, and the reason of the signal
 */
export async function fillDisk(fill: Fill): Promise<void> {
  const { files, base, job, fetchers, options, signal } = fill;
  const isAll = (options.fill ?? "all") === "all";
  const sync = setInterval(() => void files.sync().catch(() => {}), SYNC_INTERVAL);
  try {
    if (files.isPublished) return;
    await afterFirstReaders();
    if (isAll) await checkRoom(fill);
    const copied =
      isAll && base !== undefined
        ? untilFilled(fill, () => copyInherited(base, base.frames, job, files, signal))
        : undefined;
    // The image may be closed after this: neither may write to it any more.
    for (const result of await Promise.allSettled([fetchMissing(fill), copied]))
      if (result.status === "rejected") throw result.reason;
    const { states } = job;
    for (let frame = 0; frame < states.count; frame += 1) if (!states.isDone(frame)) return;
    await files.publish();
  } finally {
    clearInterval(sync);
    await fetchers?.end();
  }
}

/** Returns the number of bytes of data that are not in the image. */
function missingBytes({ states, manifest: { frames } }: DecodeJob): number {
  let bytes = 0;
  for (let frame = 0; frame < states.count; frame += 1)
    if (!states.isDone(frame)) bytes += frames.usedLength(frame);
  return bytes;
}

/** Reports a file system without room for the data that is not in the image. */
async function checkRoom({ files, job, monitor }: Fill): Promise<void> {
  const [missing, free] = [missingBytes(job), await freeSpace(files.path)];
  if (free < missing) monitor.full(missing, free);
}

/** Reports that there was no room for data. */
export async function reportFull({
  files,
  job,
  monitor,
}: Pick<Fill, "files" | "job" | "monitor">): Promise<void> {
  monitor.full(missingBytes(job), await freeSpace(files.path));
}

/** Repeats an action until it succeeds, as {@link untilDone} does. Waits for room if there is none. */
function untilFilled(fill: Fill, action: () => Promise<void>): Promise<void> {
  const { files, job, signal } = fill;
  return untilDone(signal, async () => {
    try {
      await action();
    } catch (error) {
      if (!isUnkeepable(error)) throw error;
      await reportFull(fill);
      do await sleep(ROOM_INTERVAL, undefined, { signal });
      while ((await freeSpace(files.path)) < Math.min(MIN_ROOM, missingBytes(job)));
      throw error;
    }
  });
}

/** Fetches the missing frames, or waits until readers have. */
async function fetchMissing(fill: Fill): Promise<void> {
  const { files, job, transfer, options, layout, signal } = fill;
  const objects = await fill.objects;
  const { fill: mode = "all", workers, fillBytesPerSecond: bytesPerSecond } = options;
  const maxPart = bytesPerSecond === undefined ? transfer.partSize : LIMITED_PART_SIZE;
  const partSize = Math.min(transfer.partSize, maxPart);
  const ranges = { ...transfer, partSize, bytesPerSecond };
  let { fetchers } = fill;
  const fetch = async (from: OpenObjects, count = workers) => {
    const pool = fetchers;
    // A pool ends with its job.
    fetchers = undefined;
    try {
      await withWriteback(files.file, () =>
        decodeFrom(from, ranges, job, { workers: count, signal }, pool),
      );
    } catch (error) {
      // The next attempt has new signatures.
      if (error instanceof SnapshotError && DENIED.has(error.status)) await renewAll(from);
      throw error;
    } finally {
      job.recover();
    }
  };
  // Do not wait for a trace much longer than for the manifest.
  const trace = await Promise.race([fill.trace, sleep(MAX_TRACE_WAIT, undefined, { ref: false })]);
  const first = trace === undefined ? new Set<number>() : framesOf(trace, layout);
  const isRemote = objects.some((one) => one instanceof RemoteObject);
  await untilFilled(fill, async () => {
    while (isRemote && [...first].some((frame) => !job.states.isTaken(frame))) {
      job.order = { first, isAll: false };
      // One worker, because the first readers need the processors, too.
      await fetch(objects, 1);
    }
    job.order = { first, isAll: true };
    while (!job.isDone) {
      if (mode === "none") await sleep(CHECK_INTERVAL, undefined, { signal });
      else await fetch(objects);
    }
  });
}

/** How long a request of a reader counts as recent, in milliseconds. */
const MEMORY = 500;

/** A request is slow if it takes this many times as long as the fastest… */
const SLOW_FACTOR = 1.5;

/** …and this many milliseconds longer. */
const MIN_DELAY = 10;

/** The weight of the latest request in the average. */
const WEIGHT = 0.5;

/** Detects whether the fill slows readers down. */
export class DemandLatency {
  #fastest = Number.POSITIVE_INFINITY;
  #average = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** The duration of the fastest request, in milliseconds; `Infinity` before the first. */
  get fastest(): number {
    return this.#fastest;
  }

  /** Notes the duration of a request while nothing else was fetched, in milliseconds. */
  begin(duration: number): void {
    this.#fastest = Math.min(this.#fastest, duration);
  }

  /** Counts a request. @param duration in milliseconds */
  add(duration: number): void {
    const now = performance.now();
    this.#average = this.isRecent ? WEIGHT * duration + (1 - WEIGHT) * this.#average : duration;
    this.#fastest = Math.min(this.#fastest, duration);
    this.#last = now;
  }

  /** Whether a reader had to request something a moment ago. */
  get isRecent(): boolean {
    return performance.now() - this.#last < MEMORY;
  }

  /** Whether the requests of readers are slow at the moment. */
  get isSlow(): boolean {
    if (!this.isRecent) return false;
    return this.#average > Math.max(SLOW_FACTOR * this.#fastest, this.#fastest + MIN_DELAY);
  }
}
