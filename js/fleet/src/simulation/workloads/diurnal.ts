import { Random } from "../random.js";
import type { Workload } from "../workload.js";
import { IMAGES, steadyStarts } from "./popular.js";
import { cacheBytesOf, columnsOf, MEAN_DURATION, makeHosts, makeImages, spanOf } from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";
import { zipf } from "./zipf.js";

const DAY = 86_400_000;

/** The difference of the rate at its peak from the mean, as a share: the peak is four times the trough. */
const AMPLITUDE = 0.6;

/**
 * A day whose rate follows a sine, from its trough to its peak at noon and back. Which images are popular shifts by the
 * hour: a twentieth of the ranks. Sandboxes run longer than in other workloads if there are few starts, so that the mean
 * load is the same.
 */
export function diurnal(options: WorkloadOptions): Omit<Workload, "name"> {
  const { hosts, starts: count, seed } = options;
  const random = new Random(seed);
  const images = makeImages(IMAGES, random);
  const next = zipf(IMAGES, 0.9, random);
  const mean = (MEAN_DURATION * DAY) / spanOf(count, hosts);
  const starts = steadyStarts(options, random, next).map(({ image }) => {
    const time = timeOf(random);
    const shift = Math.floor(time / (DAY / 24)) * (IMAGES / 20);
    const shifted = random.next() < 0.5 ? image : (image + shift) % IMAGES;
    return { time, image: shifted, duration: random.exponential(mean) };
  });
  return {
    ...{ hosts: makeHosts(hosts), images, cacheBytes: cacheBytesOf(images) },
    ...columnsOf(starts),
  };
}

/** Returns a time of the day: of a candidate it keeps as many as the rate at that time. */
function timeOf(random: Random): number {
  for (;;) {
    const time = DAY * random.next();
    const rate = 1 - AMPLITUDE * Math.cos((2 * Math.PI * time) / DAY);
    if (random.next() * (1 + AMPLITUDE) < rate) return time;
  }
}
