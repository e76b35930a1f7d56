import type { Timing } from "../../cache/statistics.js";

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
  /** Demand reads: those of them that had to wait for data, and how long they waited. */
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
