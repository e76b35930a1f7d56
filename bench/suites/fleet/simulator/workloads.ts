/** Starts of sandboxes on a fleet. */
import { Random } from "./random.ts";

/** An image of a workload. */
export interface WorkloadImage {
  readonly identity: string;
  /** Its disk usage in a cache, which is also the number of bytes of a fill. */
  readonly bytes: number;
}

/** A host of a workload. Times are in milliseconds. */
export interface WorkloadHost {
  readonly id: string;
  /** When it joins, with an empty cache; 0 for a host of the beginning. */
  readonly joins: number;
  /** When it leaves: nothing starts on it any more, and its sandboxes end as planned. `Infinity` if it stays. */
  readonly leaves: number;
}

/** A start of a sandbox. Times are in milliseconds. */
export interface Start {
  readonly time: number;
  /** The index of its image. */
  readonly image: number;
  /** How long the sandbox runs once it has started. */
  readonly duration: number;
}

/** The input of a simulation. */
export interface Workload {
  /** All hosts, also those that join later. */
  readonly hosts: readonly WorkloadHost[];
  readonly images: readonly WorkloadImage[];
  /** The bytes of images that the cache of a host holds. */
  readonly cacheBytes: number;
  /** In the order of their times. */
  readonly starts: readonly Start[];
  /** The index of the image of a flash crowd. */
  readonly flash?: number;
}

/** The size and the seed of a workload. */
export interface WorkloadSize {
  readonly hosts: number;
  readonly starts: number;
  readonly seed?: number;
}

/** The number of images, except in `bases`. */
const IMAGES = 1_000;

/** The share of the bytes of all images that a cache holds. */
const CACHE_SHARE = 0.2;

/** Sizes of images are log-normal, within bounds. */
const MEDIAN_BYTES = 2 ** 28;
const MIN_BYTES = 2 ** 24;
const MAX_BYTES = 2 ** 33;

/** The mean number of sandboxes that run on a host. */
const MEAN_LOAD = 20;

/** The mean duration of a sandbox, in milliseconds. */
const MEAN_DURATION = 60_000;

const DAY = 86_400_000;

/** Makers of workloads, by name. All but `bases` have 1,000 images, of which a cache holds a fifth of the bytes. */
export const WORKLOADS = {
  "zipf-0.7": (size: WorkloadSize) => popular(0.7, size),
  "zipf-0.9": (size: WorkloadSize) => popular(0.9, size),
  "zipf-1.1": (size: WorkloadSize) => popular(1.1, size),
  bases,
  "flash-crowd": flashCrowd,
  deploy,
  churn,
  diurnal,
};

/** The name of a workload. */
export type WorkloadName = keyof typeof WORKLOADS;

/** Returns starts at a constant rate, with images by Zipf's law. */
function popular(exponent: number, size: WorkloadSize): Workload {
  const random = new Random(size.seed ?? 1);
  const images = makeImages(random);
  const starts = steadyStarts(size, random, random.zipf(IMAGES, exponent));
  return { hosts: makeHosts(size.hosts), images, cacheBytes: cacheBytesOf(images), starts };
}

/**
 * Few hot bases, as in the published system whose caches hit 95 %: eleven of twelve starts are of ten base images, the
 * others wake a sleeping sandbox, whose private image is started three times in short succession and never again. A cache
 * has space for the bases and six private images. At most 97.2 % of the starts can hit.
 */
function bases(size: WorkloadSize): Workload {
  const bases = 10;
  const baseBytes = 2 ** 29;
  const privateBytes = 2 ** 28;
  const random = new Random(size.seed ?? 1);
  const images: WorkloadImage[] = Array.from({ length: bases }, (_, index) => {
    return { identity: `base-${index}`, bytes: baseBytes };
  });
  const next = random.zipf(bases, 0.8);
  /** The private images that sleep, as often as they are to be started. */
  const sleeping: number[] = [];
  const wake = () => {
    if (sleeping.length < size.hosts) {
      sleeping.push(images.length, images.length, images.length);
      images.push({ identity: `private-${images.length}`, bytes: privateBytes });
    }
    const at = random.below(sleeping.length);
    const image = sleeping[at]!;
    sleeping[at] = sleeping.at(-1)!;
    sleeping.pop();
    return image;
  };
  const starts = steadyStarts(size, random, () => 0).map((start) => {
    return { ...start, image: random.next() < 1 / 12 ? wake() : next() };
  });
  const cacheBytes = bases * baseBytes + 6 * privateBytes;
  return { hosts: makeHosts(size.hosts), images, cacheBytes, starts };
}

/** A flash crowd at half time: 1,000 of the starts are of one image that no host had, within a second. */
function flashCrowd(size: WorkloadSize): Workload {
  const random = new Random(size.seed ?? 1);
  const images = makeImages(random);
  // Of the mean size of images, so that its fill takes as long as others.
  images.push({ identity: "flash", bytes: 2 ** 29 });
  const crowd = Math.min(size.starts, 1_000);
  const others = unsortedStarts(size, random, random.zipf(IMAGES, 0.9)).slice(crowd);
  const half = spanOf(size) / 2;
  const crowding = Array.from({ length: crowd }, () => {
    const duration = random.exponential(MEAN_DURATION);
    return { time: half + random.below(1_000), image: IMAGES, duration };
  });
  const starts = inOrder([...others, ...crowding]);
  const cacheBytes = cacheBytesOf(images);
  return { hosts: makeHosts(size.hosts), images, cacheBytes, starts, flash: IMAGES };
}

/** A deploy: from half time, each image is replaced by a new one at some time within ten minutes. */
function deploy(size: WorkloadSize): Workload {
  const seed = size.seed ?? 1;
  const random = new Random(seed);
  const images = makeImages(random);
  const half = spanOf(size) / 2;
  const replaced = images.map(() => half + 600_000 * random.next());
  const starts = steadyStarts(size, random, random.zipf(IMAGES, 0.9)).map((start) => {
    return start.time < replaced[start.image]! ? start : { ...start, image: start.image + IMAGES };
  });
  return {
    hosts: makeHosts(size.hosts),
    images: [...images, ...makeImages(new Random(seed), "deployed")],
    cacheBytes: cacheBytesOf(images),
    starts,
  };
}

/** Up to ten hosts that leave at equal intervals, each replaced by a new one a minute later. */
function churn(size: WorkloadSize): Workload {
  const workload = popular(0.9, size);
  const changes = Math.min(10, size.hosts - 1);
  const leavesAt = (index: number) => (spanOf(size) * (index + 1)) / (changes + 1);
  const hosts = workload.hosts.map((host, index) => {
    return index < changes ? { ...host, leaves: leavesAt(index) } : host;
  });
  for (let index = 0; index < changes; index += 1) {
    const joins = leavesAt(index) + 60_000;
    hosts.push({ id: `host-${size.hosts + index}`, joins, leaves: Infinity });
  }
  return { ...workload, hosts };
}

/**
 * A day whose rate follows a sine, from its trough to its peak at noon and back. Which images are popular shifts by the
 * hour: a twentieth of the ranks. Sandboxes run longer than in other workloads if there are few starts, so that the mean
 * load is the same.
 */
function diurnal(size: WorkloadSize): Workload {
  const random = new Random(size.seed ?? 1);
  const images = makeImages(random);
  const next = random.zipf(IMAGES, 0.9);
  const mean = (MEAN_DURATION * DAY) / spanOf(size);
  const starts = unsortedStarts(size, random, next).map(({ image }) => {
    const time = timeOfDay(random);
    const shift = Math.floor(time / (DAY / 24)) * (IMAGES / 20);
    const shifted = random.next() < 0.5 ? image : (image + shift) % IMAGES;
    return { time, image: shifted, duration: random.exponential(mean) };
  });
  const cacheBytes = cacheBytesOf(images);
  return { hosts: makeHosts(size.hosts), images, cacheBytes, starts: inOrder(starts) };
}

/** Returns a time of the day: of random ones, it accepts as many as the rate at that time. The peak is four troughs. */
function timeOfDay(random: Random): number {
  const amplitude = 0.6;
  for (;;) {
    const time = DAY * random.next();
    const rate = 1 - amplitude * Math.cos((2 * Math.PI * time) / DAY);
    if (random.next() * (1 + amplitude) < rate) return time;
  }
}

function makeImages(random: Random, prefix = "image"): WorkloadImage[] {
  return Array.from({ length: IMAGES }, (_, index) => {
    const bytes = Math.round(random.logNormal(MEDIAN_BYTES, 1));
    const bounded = Math.min(MAX_BYTES, Math.max(MIN_BYTES, bytes));
    return { identity: `${prefix}-${index}`, bytes: bounded };
  });
}

/** Makes hosts that stay. */
function makeHosts(count: number): WorkloadHost[] {
  return Array.from({ length: count }, (_, index) => {
    return { id: `host-${index}`, joins: 0, leaves: Infinity };
  });
}

/** Returns a fifth of the bytes of some images, and at least the bytes of the largest one. */
function cacheBytesOf(images: readonly WorkloadImage[]): number {
  const sizes = images.map(({ bytes }) => bytes);
  const sum = sizes.reduce((total, bytes) => total + bytes, 0);
  return Math.max(...sizes, Math.round(CACHE_SHARE * sum));
}

/** Returns how long all starts take, in milliseconds, if hosts then run as many sandboxes as they should. */
function spanOf({ starts, hosts }: WorkloadSize): number {
  return (starts * MEAN_DURATION) / (MEAN_LOAD * hosts);
}

/** Makes starts at a constant rate. */
function steadyStarts(size: WorkloadSize, random: Random, next: () => number): Start[] {
  return inOrder(unsortedStarts(size, random, next));
}

function unsortedStarts(size: WorkloadSize, random: Random, next: () => number): Start[] {
  const span = spanOf(size);
  return Array.from({ length: size.starts }, () => {
    const time = span * random.next();
    return { time, image: next(), duration: random.exponential(MEAN_DURATION) };
  });
}

function inOrder(starts: Start[]): Start[] {
  return starts.sort((one, other) => one.time - other.time);
}
