import { setImmediate } from "node:timers/promises";
import type { DecodeJob } from "../decode/decode-job.js";
import { emit, hasListeners } from "../events.js";
import type { RemoteObject } from "../http/remote-object.js";
import type { Transfer } from "../http/transfer.js";
import { WorkerPool, type WorkOptions, workerCount } from "../workers/pool.js";
import { FETCH_WORKER } from "../workers/scripts.js";
import { AdaptiveConcurrency } from "./concurrency.js";
import type { FetchData, FetchPlan, FetchTask } from "./fetch-worker.js";
import { isPrefetchSlow } from "./hedging.js";
import { type PlannedPrefetch, planRanges } from "./plan-ranges.js";
import { Arrivals, type RangeScheduler } from "./range-scheduler.js";

/** The initial number of connections of a worker. */
const INITIAL_PER_WORKER = 4;

/** The largest initial number of connections of all workers. */
const INITIAL_CONNECTIONS = 16;

/** The largest number of connections, unless the caller sets it. */
const MAX_CONNECTIONS = 64;

/** How many workers start before the number of frames is known. */
const INITIAL_WORKERS = 4;

/** How often to check whether the prefetch of the beginning is slow, in milliseconds. */
const PREFETCH_CHECK_INTERVAL = 50;

/** The memory that a worker may use for incomplete frames, in bytes. It limits the number of connections. */
const MAX_FRAME_MEMORY = 2 ** 24;

/** A pool of fetch workers. */
export type FetcherPool = WorkerPool<FetchTask, null>;

/** Starts at most `max` fetch workers. The pool grows when it is used. The caller ends it. */
export function startFetchers(
  options: WorkOptions,
  { max = INITIAL_WORKERS, niceness = 0 } = {},
): FetcherPool {
  const count = workerCount(options, max);
  return new WorkerPool(FETCH_WORKER, count, undefined, options.signal, niceness);
}

/**
 * Downloads the missing frames of a job in ranges, and decodes them as they arrive. The pool ends with it.
 *
 * @param objects the objects on servers, by their number; frames of others must be done
 */
export async function fetchFrames(
  pool: FetcherPool,
  objects: readonly (RemoteObject | undefined)[],
  transfer: Transfer,
  job: DecodeJob,
  options: WorkOptions,
): Promise<void> {
  job.counters.restart();
  pool.grow(workerCount(options, job.frames, job.totalBytes));
  const data: FetchData = {
    ...(await job.sinkData()),
    objects: objects.map((object) => {
      if (object === undefined) return undefined;
      const { name, url, endpoint, version } = object;
      return { name, url, endpoint, version };
    }),
    transfer,
    workers: pool.size,
    hasListeners: hasListeners(),
  };
  try {
    await job.withProgress(
      options,
      (error) => void pool.end(error),
      async () => {
        // The workers open the snapshot while the ranges are planned.
        const opened = pool.runOnAll({ kind: "open", data });
        opened.catch(() => {});
        if (data.journal !== undefined) {
          await opened;
          await pool.runOnAll({ kind: "resume" });
        }
        const { plan, stop } = await startPlan(objects, transfer, job, pool.size);
        try {
          // Workers that are still starting do not delay the others.
          await Promise.all([opened, pool.runUntilAny({ kind: "fetch", plan })]);
          await pool.runOnAll({ kind: "stop" });
        } finally {
          stop();
        }
      },
    );
  } finally {
    // Before the caller closes the files to which the workers write.
    await pool.end();
  }
}

/** Plans the ranges, and adapts the number of connections until `stop` is called. */
async function startPlan(
  objects: readonly (RemoteObject | undefined)[],
  transfer: Transfer,
  job: DecodeJob,
  workers: number,
): Promise<{ readonly plan: FetchPlan; stop(): void }> {
  const { connections, partSize } = transfer;
  const maxInMemory = Math.max(1, Math.floor(MAX_FRAME_MEMORY / job.manifest.info.pieceSize));
  const max = Math.min(connections ?? MAX_CONNECTIONS, workers * maxInMemory);
  const initial = Math.max(workers, Math.min(workers * INITIAL_PER_WORKER, INITIAL_CONNECTIONS));
  const limit = Math.min(connections ?? initial, max);
  const { scheduler, plan, prefetches } = await planRanges(objects, job, partSize, limit);
  const [snapshot] = objects;
  // The request for the end of the snapshot is the first measurement.
  if (snapshot !== undefined) {
    scheduler.timings.completed(snapshot.duration, snapshot.tail.byteLength);
  }
  for (const { received, ranges } of prefetches) {
    // Not awaited, and never rejected: if the prefetch fails, its ranges are fetched like the others.
    void received.then((length) => {
      job.counters.received(length);
      for (const { index, start, end } of ranges)
        scheduler.prefetched(index, Math.max(0, Math.min(length, end) - start));
    });
  }
  // Count bytes that have arrived first: workers take them at once, and look for more only now and then.
  await setImmediate();
  const isFixed = connections !== undefined;
  const concurrency = new AdaptiveConcurrency(scheduler.limit, job, max, isFixed);
  const url = objects.find((object) => object !== undefined)?.url ?? "";
  concurrency.start((count) => emit("hedgerow:snapshot:connections", { url, connections: count }));
  const isLimited = transfer.bytesPerSecond !== undefined;
  job.arrivals = new Arrivals(job.manifest.frames, job.states, scheduler, isLimited);
  const check = () => {
    for (const prefetch of prefetches)
      stopSlowPrefix(objects[prefetch.object]?.prefix, scheduler, prefetch);
  };
  const timer = setInterval(check, PREFETCH_CHECK_INTERVAL);
  const stop = () => {
    job.arrivals = undefined;
    clearInterval(timer);
    concurrency.stop();
  };
  return { plan: { ...plan, maxConnections: Math.floor(max / workers) }, stop };
}

/** Stops the prefetch of the beginning of an object if everything else waits for it. */
function stopSlowPrefix(
  prefix: RemoteObject["prefix"],
  scheduler: RangeScheduler,
  { bytes, end, ranges: [first] }: PlannedPrefetch,
): void {
  if (prefix === undefined || bytes !== prefix.bytes || first === undefined) return;
  const { received } = prefix;
  if (isPrefetchSlow(scheduler, first.index, received, end - received)) void prefix.stop();
}
