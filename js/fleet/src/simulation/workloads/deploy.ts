import { Random } from "../random.js";
import type { Workload } from "../workload.js";
import { IMAGES, steadyStarts } from "./popular.js";
import { cacheBytesOf, columnsOf, makeHosts, makeImages, spanOf } from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";
import { zipf } from "./zipf.js";

/** A deploy: from half time, each image is replaced by a new one at some time within ten minutes. */
export function deploy(options: WorkloadOptions): Omit<Workload, "name"> {
  const { hosts, starts: count, seed } = options;
  const random = new Random(seed);
  const images = makeImages(IMAGES, random);
  const cacheBytes = cacheBytesOf(images);
  const half = spanOf(count, hosts) / 2;
  const replaced = images.map(() => half + 600_000 * random.next());
  const next = zipf(IMAGES, 0.9, random);
  const starts = steadyStarts(options, random, next).map((start) => {
    return start.time < replaced[start.image]! ? start : { ...start, image: start.image + IMAGES };
  });
  const replacements = makeImages(IMAGES, new Random(seed), "deployed");
  return {
    ...{ hosts: makeHosts(hosts), images: [...images, ...replacements], cacheBytes },
    ...columnsOf(starts),
  };
}
