import { OVERHEAD } from "../host-cache.js";
import { Random } from "../random.js";
import type { Workload, WorkloadImage } from "../workload.js";
import { steadyStarts } from "./popular.js";
import { columnsOf, makeHosts } from "./starts.js";
import type { WorkloadOptions } from "./workloads.js";
import { zipf } from "./zipf.js";

/** The number of base images, and of private images of sleeping sandboxes that are awake at a time on each host. */
const [BASES, AWAKE] = [10, 1];

/** How often a private image is started. */
const WAKES = 3;

/** The share of starts from private images. */
const PRIVATE_SHARE = 1 / 12;

const [BASE_BYTES, PRIVATE_BYTES] = [2 ** 29, 2 ** 28];

/**
 * Few hot bases, as in the published system whose caches hit 95 %: eleven of twelve starts are of ten base images, the
 * others wake a sleeping sandbox, whose private image is started three times in short succession and never again. A cache
 * has space for the bases and six private images. At most 97.2 % of the starts can hit.
 */
export function bases(options: WorkloadOptions): Omit<Workload, "name"> {
  const random = new Random(options.seed);
  const images: WorkloadImage[] = Array.from({ length: BASES }, (_, index) => {
    return { identity: `base-${index}`, bytes: BASE_BYTES };
  });
  const next = zipf(BASES, 0.8, random);
  const starts = steadyStarts(options, random, () => 0).sort((a, b) => a.time - b.time);
  const awake: number[] = [];
  const wake = () => {
    if (awake.length < options.hosts * AWAKE) {
      for (let times = 0; times < WAKES; times += 1) awake.push(images.length);
      images.push({ identity: `private-${images.length}`, bytes: PRIVATE_BYTES });
    }
    const at = random.below(awake.length);
    const image = awake[at]!;
    awake[at] = awake.at(-1)!;
    awake.pop();
    return image;
  };
  const columns = columnsOf(
    starts.map((start) => ({ ...start, image: random.next() < PRIVATE_SHARE ? wake() : next() })),
  );
  const cacheBytes = OVERHEAD + BASES * BASE_BYTES + 6 * PRIVATE_BYTES;
  return { hosts: makeHosts(options.hosts), images, cacheBytes, ...columns };
}
