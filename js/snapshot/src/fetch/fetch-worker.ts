/** The worker that downloads ranges of a snapshot and decodes their frames as they arrive. */
import { FrameSink, type SinkData } from "../decode/frame-sink.js";
import type { EmittedEvent } from "../events.js";
import type { Endpoint } from "../http/get.js";
import type { ObjectVersion } from "../http/object-version.js";
import type { Transfer } from "../http/transfer.js";
import { type Job, serve } from "../workers/serve.js";
import { RangeFetcher } from "./range-fetcher.js";
import type { SchedulerData } from "./range-scheduler.js";

/**
 * A task of a fetch worker: open a snapshot, check the frames that an earlier run restored, fetch the rest, or stop to
 * fetch, since another worker has found that nothing is left.
 */
export type FetchTask =
  | { readonly kind: "open"; readonly data: FetchData }
  | { readonly kind: "resume" }
  | { readonly kind: "fetch"; readonly plan: FetchPlan }
  | { readonly kind: "stop" };

/** An object that holds frames. */
export interface FetchedObject {
  /** Its name in messages. */
  readonly name: string;
  /** Its URL in events. */
  readonly url: string;
  readonly endpoint: Endpoint;
  readonly version: ObjectVersion;
}

/** The snapshot that a worker fetches, and how. */
export interface FetchData extends SinkData {
  /** The objects on servers, by their number. */
  readonly objects: readonly (FetchedObject | undefined)[];
  readonly transfer: Transfer;
  /** The number of workers. */
  readonly workers: number;
  /** Whether any event has a subscriber; without one, workers send no events. */
  readonly hasListeners: boolean;
}

/** The ranges that the workers fetch. */
export interface FetchPlan {
  readonly scheduler: SchedulerData;
  /**
   * The number of frames that are done when every range is fetched, including those of earlier runs; undefined if others
   * may be missing.
   */
  readonly frames: number | undefined;
  /** The number of bytes in the ranges, without those prefetched. */
  readonly bytes: number;
  /** The bytes of the first ranges; the scheduler says how many have arrived. */
  readonly prefetched: readonly PrefetchedBytes[];
  /** The maximum number of connections of each worker. */
  readonly maxConnections: number;
}

/** The bytes of a range that were requested before it was known. */
export interface PrefetchedBytes {
  readonly bytes: SharedArrayBuffer;
  /** The offset of the range in the bytes. */
  readonly offset: number;
}

/** The download of a snapshot by one worker. */
class FetchJob implements Job<FetchTask, null> {
  #opened: { readonly data: FetchData; readonly sink: FrameSink } | undefined;
  #fetcher: RangeFetcher | undefined;

  constructor(private readonly emit: (event: EmittedEvent) => void) {}

  async run(task: FetchTask): Promise<[null, []]> {
    if (task.kind === "open") {
      this.#opened = { data: task.data, sink: new FrameSink(task.data) };
    } else if (task.kind === "stop") {
      this.#fetcher?.stop();
    } else {
      await this.#work(task);
    }
    return [null, []];
  }

  async #work(task: Extract<FetchTask, { kind: "resume" | "fetch" }>): Promise<void> {
    if (this.#opened === undefined)
      throw new Error(`expected the task "open" first, found "${task.kind}"`);
    const { data, sink } = this.#opened;
    if (task.kind === "resume") {
      const { frames, counters } = sink;
      for (let index = counters.next(); index < frames.count; index = counters.next())
        sink.resume(index);
    } else {
      this.#fetcher = new RangeFetcher(data, sink, task.plan, this.emit);
      await this.#fetcher.run();
    }
  }

  free(): void {
    this.#opened?.sink.free();
  }
}

serve<undefined, FetchTask, null>((_, emit) => new FetchJob(emit));
