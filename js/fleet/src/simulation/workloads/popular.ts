import { Random } from "../random.js";
import type { Workload } from "../workload.js";
import {
  cacheBytesOf,
  columnsOf,
  MEAN_DURATION,
  makeHosts,
  makeImages,
  type Start,
  spanOf,
} from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";
import { zipf } from "./zipf.js";

/** The number of images. */
export const IMAGES = 1_000;

/** Starts at a constant rate, with images by Zipf's law. */
export function popular(exponent: number, options: WorkloadOptions): Omit<Workload, "name"> {
  const { hosts, seed } = options;
  const random = new Random(seed);
  const images = makeImages(IMAGES, random);
  const starts = steadyStarts(options, random, zipf(IMAGES, exponent, random));
  return {
    ...{ hosts: makeHosts(hosts), images, cacheBytes: cacheBytesOf(images) },
    ...columnsOf(starts),
  };
}

/** Makes starts at a constant rate. */
export function steadyStarts(
  { hosts, starts }: WorkloadOptions,
  random: Random,
  next: () => number,
): Start[] {
  const span = spanOf(starts, hosts);
  return Array.from({ length: starts }, () => {
    const time = span * random.next();
    return { time, image: next(), duration: random.exponential(MEAN_DURATION) };
  });
}
