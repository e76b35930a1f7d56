import type { Meter } from "@opentelemetry/api";

import type { Disk } from "../disk/disk.js";
import type { DiskStats } from "../disk/statistics/disk-stats.js";
import { check, checkMeter, type Metric, observe } from "./observe.js";

const COUNTERS: readonly Metric<DiskStats>[] = [
  {
    name: "hedgerow.disk.reads",
    unit: "{read}",
    description: "Reads that returned data",
    of: ({ reads }) => reads,
  },
  {
    name: "hedgerow.disk.filled",
    unit: "By",
    description: "Bytes of the image that have arrived",
    of: ({ fill }) => fill.bytes,
  },
  {
    name: "hedgerow.disk.trace.hits",
    unit: "{hit}",
    description: "First reads of frames that the trace had fetched",
    of: ({ trace }) => trace.hits,
  },
  {
    name: "hedgerow.disk.trace.misses",
    unit: "{miss}",
    description: "First reads of other frames that were missing when the disk was opened",
    of: ({ trace }) => trace.misses,
  },
];

const GAUGES: readonly Metric<DiskStats>[] = [
  {
    name: "hedgerow.disk.open.time",
    unit: "s",
    description: "Time until the disk was open",
    of: ({ open }) => open / 1000,
  },
  {
    name: "hedgerow.disk.first_byte.time",
    unit: "s",
    description: "Time until the first read had its data",
    of: ({ firstByte }) => firstByte && firstByte / 1000,
  },
  {
    name: "hedgerow.disk.trace.frames",
    unit: "{frame}",
    description: "Frames that the trace named",
    of: ({ trace }) => trace.frames,
  },
];

/**
 * Reports the metrics of a disk to OpenTelemetry: its {@link Disk.stats} whenever metrics are collected, and the wait of
 * each read that has to wait for data. Observe a disk once, before you use it.
 *
 * Imports nothing from OpenTelemetry but types.
 *
 * @returns a function that stops the reports: call it when you close the disk
 * @throws {SnapshotError} `ERR_ARGUMENT`
 *
 * @example
 * import { metrics } from "@opentelemetry/api";
 *
 * const stop = observeDisk(disk, metrics.getMeter("sandboxes"));
 * await work(disk);
 * stop();
 * await disk.close();
 */
export function observeDisk(disk: Disk, meter: Meter): () => void {
  check("disk", "a disk", disk, { image: "string", stats: "function" });
  checkMeter(meter);
  return observe(meter, {
    attributes: { "hedgerow.disk.image": disk.image },
    stats: async () => disk.stats(),
    counters: COUNTERS,
    gauges: GAUGES,
    durations: {
      name: "hedgerow.disk.demand.duration",
      description: "Time that reads waited for data",
      channel: "hedgerow:disk:demand",
      attributesOf: ({ image }) => (image === disk.image ? {} : undefined),
    },
  });
}
