import { Random } from "../random.js";
import type { Workload } from "../workload.js";
import { IMAGES, steadyStarts } from "./popular.js";
import { cacheBytesOf, columnsOf, MEAN_DURATION, makeHosts, makeImages, spanOf } from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";
import { zipf } from "./zipf.js";

/** A flash crowd at half time: 1,000 of the starts are of one image that nobody had, within a second. */
export function flashCrowd(options: WorkloadOptions): Omit<Workload, "name"> {
  const { hosts, starts: count, seed } = options;
  const random = new Random(seed);
  const images = makeImages(IMAGES, random);
  // Of the mean size of images, so that its fill takes as long as others.
  images.push({ identity: "flash", bytes: 2 ** 29 });
  const crowd = Math.min(count, 1_000);
  const starts = steadyStarts(options, random, zipf(IMAGES, 0.9, random)).slice(crowd);
  const half = spanOf(count, hosts) / 2;
  for (let start = 0; start < crowd; start += 1) {
    const duration = random.exponential(MEAN_DURATION);
    starts.push({ time: half + random.below(1_000), image: IMAGES, duration });
  }
  return {
    ...{ hosts: makeHosts(hosts), images, cacheBytes: cacheBytesOf(images), flash: IMAGES },
    ...columnsOf(starts),
  };
}
