import { OVERHEAD } from "../host-cache.js";
import type { Random } from "../random.js";
import type { Workload, WorkloadHost, WorkloadImage } from "../workload.js";

/** The share of the bytes of all images that a cache holds. */
const CACHE_SHARE = 0.2;

/** Sizes of images are log-normal, within bounds. */
const [MEDIAN_BYTES, SIGMA, MIN_BYTES, MAX_BYTES] = [2 ** 28, 1, 2 ** 24, 2 ** 33];

/** The maximum number of hosts that are made. */
export const MAX_MADE_HOSTS = 10_000;

/** The mean number of sandboxes that run on a host. */
const MEAN_LOAD = 20;

/** The mean duration of a sandbox, in milliseconds. */
export const MEAN_DURATION = 60_000;

/** Returns how long a number of starts take, in milliseconds, if hosts then run as many sandboxes as they should. */
export function spanOf(starts: number, hosts: number): number {
  return (starts * MEAN_DURATION) / (MEAN_LOAD * hosts);
}

/** Makes images. */
export function makeImages(count: number, random: Random, prefix = "image"): WorkloadImage[] {
  return Array.from({ length: count }, (_, index) => {
    const bytes = Math.round(random.logNormal(MEDIAN_BYTES, SIGMA));
    return {
      identity: `${prefix}-${index}`,
      bytes: Math.min(MAX_BYTES, Math.max(MIN_BYTES, bytes)),
    };
  });
}

/** Makes hosts that stay. */
export function makeHosts(count: number): WorkloadHost[] {
  return Array.from({ length: count }, (_, index) => {
    return { id: `host-${index}`, joins: 0, leaves: Infinity };
  });
}

/** Returns the limit of a cache for a fifth of the bytes of some images, and at least for the largest one. */
export function cacheBytesOf(images: readonly WorkloadImage[]): number {
  let [sum, largest] = [0, 0];
  for (const { bytes } of images) {
    sum += bytes;
    largest = Math.max(largest, bytes);
  }
  return OVERHEAD + Math.max(largest, Math.round(CACHE_SHARE * sum));
}

/** A start of a sandbox. */
export interface Start {
  /** In milliseconds. */
  readonly time: number;
  readonly image: number;
  /** In milliseconds. */
  readonly duration: number;
}

/** Returns the columns of starts, in the order of their times. */
export function columnsOf(
  starts: readonly Start[],
): Pick<Workload, "times" | "starts" | "durations"> {
  const sorted = [...starts].sort((one, other) => one.time - other.time);
  return {
    times: Float64Array.from(sorted, ({ time }) => time),
    starts: Uint32Array.from(sorted, ({ image }) => image),
    durations: Float64Array.from(sorted, ({ duration }) => duration),
  };
}
