import type { FrameWork } from "../decode/frame-work.js";
import { SnapshotError } from "../error.js";
import { emit, hasListeners } from "../events.js";
import { cutRanges } from "../format/ranges.js";
import type { RemoteObject } from "../http/read/remote-object.js";
import { type WorkOptions, workerCount } from "../options/work-options.js";
import { type WorkerPool, withWorkers } from "../workers/pool.js";
import { FETCH_WORKER } from "../workers/scripts.js";
import { AdaptiveConcurrency } from "./adaptive-concurrency.js";
import type { FetchTask } from "./fetch-worker.js";
import type { EarlyBytes, FetchData, Ranges } from "./range-fetcher.js";
import { RangeScheduler } from "./range-scheduler.js";

/** How many connections there are at first for each thread and in all, and how many there may be. */
const [FIRST_OF_EACH, FIRST_CONNECTIONS, MOST_CONNECTIONS] = [4, 16, 64];

/** How many threads get ready before it is known how many are of use. */
const FIRST_THREADS = 4;

/** How often it is looked whether what was asked for early holds up the rest, in milliseconds. */
const WATCH = 50;

/** The smallest part that is asked for so that each connection has one, in bytes. */
const MIN_PART_SIZE = 2 ** 20;

/** How many bytes of frames that are on their way a thread may have in memory. */
const MOST_MEMORY = 2 ** 24;

/** Threads that fetch. */
export type FetcherPool = WorkerPool<FetchTask, null>;

/** Has `use` work with threads that are ready to fetch, or will soon be. */
export function withFetchers<T>(
  options: WorkOptions,
  use: (pool: FetcherPool) => Promise<T>,
): Promise<T> {
  const count = workerCount(options, FIRST_THREADS);
  return withWorkers<FetchTask, null, T>(FETCH_WORKER, count, undefined, options.signal, use);
}

/** Fetches the frames of an object in ranges, and decodes them as they come. */
export async function fetchFrames(
  pool: FetcherPool,
  object: RemoteObject,
  work: FrameWork,
  options: WorkOptions,
): Promise<void> {
  const { endpoint, version, transfer } = object;
  pool.grow(workerCount(options, work.frames));
  const data: FetchData = {
    ...(await work.sinkData()),
    endpoint,
    version,
    transfer,
    workers: pool.size,
    hasListeners: hasListeners(),
  };
  try {
    await work.withProgress(
      options,
      (error) => void pool.end(error),
      async () => {
        await pool.runOnAll({ kind: "begin", data });
        if (data.journal !== undefined) await pool.runOnAll({ kind: "recall" });
        await withConnections(object, work, pool.size, async (ranges) => {
          await pool.runUntilAny({ kind: "fetch", ranges });
        });
      },
    );
  } finally {
    // Whoever calls may close the files then: no thread may write any more.
    await pool.end(new SnapshotError("ERR_WORKER", "the work is done"));
  }
}

/** Has `use` fetch what is missing, over as many connections as pay. */
async function withConnections(
  object: RemoteObject,
  work: FrameWork,
  workers: number,
  use: (ranges: Ranges) => Promise<void>,
): Promise<void> {
  const { connections: wanted } = object.transfer;
  const room = workers * Math.max(1, Math.floor(MOST_MEMORY / work.manifest.info.pieceSize));
  const most = Math.min(wanted ?? MOST_CONNECTIONS, room);
  const first = Math.max(workers, Math.min(workers * FIRST_OF_EACH, FIRST_CONNECTIONS));
  const limit = Math.min(wanted ?? first, most);
  const { scheduler, ranges, early } = await shareOut(object, work, limit);
  // Until others came, that is what is usual.
  scheduler.took(object.duration, object.tail.byteLength);
  const connections = new AdaptiveConcurrency(scheduler, work.counters, most, wanted !== undefined);
  connections.start((count) =>
    emit("hedgerow:snapshot:connections", { url: object.name, connections: count }),
  );
  for (const [index, part] of early.entries()) {
    // It is not awaited: whatever comes of it, the ledger is told.
    void part.came.then((length) => {
      work.counters.fetched(length);
      scheduler.earlyCame(index, length);
    });
  }
  const watch = setInterval(() => {
    const { prefix } = object;
    if (prefix === undefined || early[0]?.bytes !== prefix.bytes) return;
    const left = early[0].end - prefix.received;
    if (scheduler.isLate(0, prefix.received, left)) void prefix.stop();
  }, WATCH);
  try {
    await use(ranges);
  } finally {
    clearInterval(watch);
    connections.stop();
  }
}

/** Bytes that were asked for before, and how many came of them, from their start on. */
interface Early extends EarlyBytes {
  readonly end: number;
  readonly came: Promise<number>;
}

/**
 * Cuts what is missing into ranges. What was asked for early, the beginning and the end of the object,
 * has ranges of its own, which come first.
 */
async function shareOut(
  object: RemoteObject,
  { manifest, states, frames: count }: FrameWork,
  limit: number,
) {
  const { frames } = manifest;
  let missing = [...states.missing()];
  const bounds: number[] = [];
  const early: Early[] = [];
  for (const part of earlyParts(object)) {
    // What goes on behind the beginning is fetched from there.
    const isIn = (index: number) => {
      const start = frames.fileOffset(index);
      return start >= part.start && start < part.end;
    };
    const inside = missing.filter(isIn);
    const [first, last] = [inside[0], inside.at(-1)];
    if (first === undefined || last === undefined) continue;
    missing = missing.filter((index) => !isIn(index));
    bounds.push(first, last + 1);
    early.push(part);
  }
  const left = missing.reduce((sum, index) => sum + frames.compressedLength(index), 0);
  // One for each connection at least, unless they would be so small that asking takes longer.
  const partSize = Math.max(Math.ceil(left / limit), MIN_PART_SIZE);
  bounds.push(...(await cutRanges(frames, missing, Math.min(partSize, object.transfer.partSize))));
  const scheduler = RangeScheduler.of(Uint32Array.from(bounds), limit, early.length);
  const bytesEarly = early.map(({ start, bytes }): EarlyBytes => ({ start, bytes }));
  const ranges: Ranges = {
    scheduler: scheduler.data,
    frames: count,
    bytes: left,
    early: bytesEarly,
  };
  return { scheduler, ranges, early };
}

function earlyParts({ prefix, tail, size, version }: RemoteObject): Early[] {
  const end = { start: size - tail.byteLength, end: size, bytes: tail };
  const parts: Early[] = [{ ...end, came: Promise.resolve(tail.byteLength) }];
  if (prefix === undefined) return parts;
  const { bytes } = prefix;
  const beginning = { start: 0, end: Math.min(bytes.byteLength, size), bytes };
  return [{ ...beginning, came: prefix.lengthOf(version) }, ...parts];
}
