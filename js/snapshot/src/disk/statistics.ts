/** Measures how soon a disk can be used, how long readers wait, and how well its trace predicts reads. */
import type { Timing } from "../cache/statistics.js";
import type { DecodeJob } from "../decode/decode-job.js";
import type { FrameStates } from "../decode/frame-states.js";
import type { SharedCounters } from "../decode/shared-counters.js";
import { emit } from "../events.js";
import type { DiskImage } from "./disk-image.js";

/** Durations of one kind of event, in milliseconds, and how many of them are in each bucket. */
export interface Histogram extends Timing {
  /** The upper bounds of the buckets, inclusive. */
  readonly bounds: readonly number[];
  /** The number of durations in each bucket. The last bucket, which has no bound, has those above all bounds. */
  readonly counts: readonly number[];
}

/** How soon a disk could be used, and how its data arrived. */
export interface DiskStats {
  /** The time from the call of `openSnapshot` until the disk was open, in milliseconds. */
  readonly open: number;
  /** The time from the call of `openSnapshot` until the first read had its data, in milliseconds. Undefined before. */
  readonly firstByte: number | undefined;
  /** The number of reads that returned data. */
  readonly reads: number;
  /** Demand reads: the reads that had to wait for data, and how long they waited. */
  readonly demand: Histogram;
  /** The data that has arrived since the disk was opened. */
  readonly fill: FillStats;
  /** How well the trace predicted the reads. */
  readonly trace: TraceStats;
}

/** How much of a disk has arrived, and how fast. */
export interface FillStats {
  /** The number of bytes of the image that have arrived, including those that readers fetched. */
  readonly bytes: number;
  /** The time that the fill has run, in milliseconds. */
  readonly duration: number;
  /** The average rate over this time, in bytes of the image per second. */
  readonly bytesPerSecond: number;
}

/** How many frames were fetched by the time at which they were first read, because the trace named them. */
export interface TraceStats {
  /** The number of frames that the trace named. */
  readonly frames: number;
  /** First reads of frames that the trace had fetched. */
  readonly hits: number;
  /** First reads of other frames that were missing when the disk was opened. */
  readonly misses: number;
  /** The share of hits in these first reads, 0 to 1. Undefined before the first of them. */
  readonly hitRate: number | undefined;
}

/**
 * The upper bounds of the buckets of durations, in milliseconds: a request takes some of them, a server that is away
 * takes minutes.
 */
export const BOUNDS: readonly number[] = [
  ...[1, 2.5, 5, 10, 25, 50, 100, 250, 500],
  ...[1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000],
];

/** Counts waits by their length. */
export class WaitHistogram {
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #count = 0;
  #total = 0;
  #longest = 0;

  /** Counts a wait. @param duration in milliseconds */
  add(duration: number): void {
    const bound = BOUNDS.findIndex((limit) => duration <= limit);
    const bucket = bound === -1 ? BOUNDS.length : bound;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#count += 1;
    this.#total += duration;
    this.#longest = Math.max(this.#longest, duration);
  }

  get value(): Histogram {
    const timing = { count: this.#count, total: this.#total, longest: this.#longest };
    return { ...timing, bounds: [...BOUNDS], counts: [...this.#counts] };
  }
}

/** For how long a first read tells what the next ones need, in milliseconds: of a frame in the trace, and of another. */
const NAMED_MEMORY = 10_000;
const OTHER_MEMORY = 2_000;

/** Counts the frames that the trace had fetched by the time at which they were first read. */
export class TraceHits {
  readonly #job: DecodeJob;
  readonly #image: DiskImage;
  /** Frames that are missing here were missing when the disk was opened, and have not been read since. */
  readonly #unread: FrameStates;
  #hits = 0;
  #misses = 0;
  /** When a frame of the trace was last read first, and another one, as `performance.now()` says. */
  #lastNamed = Number.NEGATIVE_INFINITY;
  #lastOther = Number.NEGATIVE_INFINITY;
  /** The frames of the trace, and how many of them are done, at least, from the first on. */
  #named: readonly number[] | undefined;
  #done = 0;

  constructor(job: DecodeJob, image: DiskImage) {
    this.#job = job;
    this.#image = image;
    this.#unread = job.states.copy();
  }

  /** Counts the frames that a read of [start, end) is the first to need. */
  read(start: number, end: number): void {
    const { order, states } = this.#job;
    for (const frame of this.#image.neededFrames(start, end)) {
      if (this.#unread.isTaken(frame)) continue;
      this.#unread.finish(frame);
      const isNamed = order.first.has(frame);
      if (isNamed && states.isDone(frame)) this.#hits += 1;
      else this.#misses += 1;
      if (isNamed) this.#lastNamed = performance.now();
      else this.#lastOther = performance.now();
    }
  }

  /** Whether readers find in the trace what they need at the moment, so that everything else can wait. */
  get isServing(): boolean {
    const now = performance.now();
    if (now - this.#lastNamed > NAMED_MEMORY || now - this.#lastOther < OTHER_MEMORY) return false;
    // One of them has been read, so that the trace is known.
    return this.#hasArrived;
  }

  /** Whether frames of the trace are still to arrive, which readers need more than anything else. */
  get isArriving(): boolean {
    return this.#job.order.first.size > 0 && !this.#hasArrived;
  }

  get #hasArrived(): boolean {
    const { order, states } = this.#job;
    this.#named ??= [...order.first];
    const named = this.#named;
    while (this.#done < named.length && states.isDone(named[this.#done] as number)) this.#done += 1;
    return this.#done === named.length;
  }

  get stats(): TraceStats {
    const all = this.#hits + this.#misses;
    return {
      frames: this.#job.order.first.size,
      hits: this.#hits,
      misses: this.#misses,
      hitRate: all === 0 ? undefined : this.#hits / all,
    };
  }
}

/** Measures how soon a disk can be used, and how its data arrives, and publishes events about it. */
export class DiskMonitor {
  /** When the disk was open, and when its fill ended, as `performance.now()` says. */
  #opened = 0;
  #filled: number | undefined;
  readonly #demand = new WaitHistogram();
  #reads = 0;
  #firstByte: number | undefined;
  #isFull = false;

  /**
   * @param image the absolute path of the image
   * @param digest that of the snapshot
   * @param begun when `openSnapshot` was called, as `performance.now()` says
   * @param counters those of the frames that arrive
   */
  constructor(
    readonly image: string,
    private readonly digest: string,
    private readonly begun: number,
    private readonly counters: SharedCounters,
    private readonly traceHits: TraceHits,
  ) {}

  /** Whether the file system was reported as full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Notes that the disk is open. */
  opened(): void {
    const { begun, image, digest } = this;
    this.#opened = performance.now();
    emit("hedgerow:disk:open", { image, digest, duration: this.#opened - begun });
  }

  /** Counts a read that has its data. Only the first one looks at the clock: there may be 200,000 a second. */
  countRead(): void {
    if (this.#reads === 0) this.#firstByte = performance.now() - this.begun;
    this.#reads += 1;
  }

  /** Counts a read that had to wait for data. @param duration in milliseconds */
  countDemand(offset: number, length: number, duration: number): void {
    this.#demand.add(duration);
    emit("hedgerow:disk:demand", { image: this.image, offset, length, duration });
  }

  /** Reports once that the file system has no room for the data that is missing in the image. */
  full(missingBytes: number, freeBytes: number): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const { image, digest } = this;
    emit("hedgerow:disk:full", { image, digest, missingBytes, freeBytes });
  }

  /** Measures the fill, which must begin when the disk is open. */
  async measureFill(fill: () => Promise<void>): Promise<void> {
    try {
      await fill();
    } finally {
      this.#filled = performance.now();
    }
    const { image, digest } = this;
    const { bytes, duration } = this.stats.fill;
    emit("hedgerow:disk:filled", { image, digest, bytes, duration });
  }

  get stats(): DiskStats {
    const { begun, counters, traceHits } = this;
    const { bytes } = counters.counts;
    const duration = (this.#filled ?? performance.now()) - this.#opened;
    return {
      open: this.#opened - begun,
      firstByte: this.#firstByte,
      reads: this.#reads,
      demand: this.#demand.value,
      fill: { bytes, duration, bytesPerSecond: (bytes / Math.max(duration, 1)) * 1000 },
      trace: traceHits.stats,
    };
  }
}
