import type { SharedCounters } from "../../decode/shared-counters.js";
import type { DiskStats } from "./disk-stats.js";
import type { TraceHits } from "./trace-hits.js";
import { WaitHistogram } from "./wait-histogram.js";

/** What a monitor measures. */
export interface MonitorParts {
  /** When `openSnapshot` was called, as `performance.now()` says. */
  readonly begun: number;
  /** The counters of the frames that arrive. */
  readonly counters: SharedCounters;
  readonly traceHits: TraceHits;
}

/** Measures how soon a disk can be used, and how its data arrives. */
export class DiskMonitor {
  readonly #parts: MonitorParts;
  /** When the disk was open, as `performance.now()` says. */
  readonly #opened = performance.now();
  readonly #demand = new WaitHistogram();
  #reads = 0;
  #firstByte: number | undefined;
  #filled: number | undefined;

  /** Must be called when the disk is open. */
  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  /** Counts a read that has its data. Only the first one looks at the clock: there may be 200,000 a second. */
  countRead(): void {
    if (this.#reads === 0) this.#firstByte = performance.now() - this.#parts.begun;
    this.#reads += 1;
  }

  /** Counts a read that had to wait for data. @param duration in milliseconds */
  countDemand(duration: number): void {
    this.#demand.add(duration);
  }

  /** Measures a fill. */
  async measureFill(fill: () => Promise<void>): Promise<void> {
    try {
      await fill();
    } finally {
      this.#filled = performance.now();
    }
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
