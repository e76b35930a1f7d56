import type { SharedCounters } from "../../decode/shared-counters.js";
import { emit } from "../../events.js";
import type { DiskStats } from "./disk-stats.js";
import type { TraceHits } from "./trace-hits.js";
import { WaitHistogram } from "./wait-histogram.js";

/** What a monitor measures. */
export interface MonitorParts {
  /** The absolute path of the image. */
  readonly image: string;
  /** The digest of the snapshot. */
  readonly digest: string;
  /** When `openSnapshot` was called, as `performance.now()` says. */
  readonly begun: number;
  /** The counters of the frames that arrive. */
  readonly counters: SharedCounters;
  readonly traceHits: TraceHits;
}

/** Measures how soon a disk can be used, and how its data arrives, and publishes events of that. */
export class DiskMonitor {
  readonly #parts: MonitorParts;
  /** When the disk was open, and when its fill ended, as `performance.now()` says. */
  #opened = 0;
  #filled: number | undefined;
  readonly #demand = new WaitHistogram();
  #reads = 0;
  #firstByte: number | undefined;
  #isFull = false;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  /** Whether the file system was reported as full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get image(): string {
    return this.#parts.image;
  }

  /** Notes that the disk is open. */
  opened(): void {
    const { begun, image, digest } = this.#parts;
    this.#opened = performance.now();
    emit("hedgerow:disk:open", { image, digest, duration: this.#opened - begun });
  }

  /** Counts a read that has its data. Only the first one looks at the clock: there may be 200,000 a second. */
  countRead(): void {
    if (this.#reads === 0) this.#firstByte = performance.now() - this.#parts.begun;
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
    const { image, digest } = this.#parts;
    emit("hedgerow:disk:full", { image, digest, missingBytes, freeBytes });
  }

  /** Measures the fill, which must begin when the disk is open. */
  async measureFill(fill: () => Promise<void>): Promise<void> {
    try {
      await fill();
    } finally {
      this.#filled = performance.now();
    }
    const { image, digest } = this.#parts;
    const { bytes, duration } = this.stats.fill;
    emit("hedgerow:disk:filled", { image, digest, bytes, duration });
  }

  get stats(): DiskStats {
    const { begun, counters, traceHits } = this.#parts;
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
