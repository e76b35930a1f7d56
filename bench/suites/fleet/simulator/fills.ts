/** Downloads of images into the caches of hosts, from the store and from the shared tier. */
import type { EventQueue } from "./event-queue.ts";
import { HostCache } from "./host-cache.ts";
import type { Workload, WorkloadImage } from "./workloads.ts";

/** Bytes per millisecond of a fill from the origin. */
const ORIGIN_RATE = 200e3;

/** Bytes per millisecond of all fills of a host, and of one from the shared tier. */
const HOST_RATE = 1e6;

/** Milliseconds before the first byte of a fill. */
const LATENCY = 30;

/** How many hosts may fetch an image from the origin at a time. */
const SLOTS = 3;

/** A download ends if it would take less than this, in milliseconds: more than the error of a time. */
const TOLERANCE = 1e-3;

/** A download of an image into the cache of a host. */
export interface Fill {
  /** The row of the host. */
  readonly row: number;
  readonly image: number;
  /** The starts that wait for it. */
  readonly starts: number[];
  isFromOrigin: boolean;
  /** The bytes that are missing, with those that the link could have sent during the latency. */
  left: number;
  rate: number;
}

/** The network link of a host: its downloads share it fairly, and none is faster than its own maximum. */
interface Link {
  fills: Fill[];
  /** The time up to which the downloads were computed. */
  computed: number;
  /** When the next download ends. */
  due: number;
}

/** Returns the milliseconds of one fill from the origin on an idle fleet. */
export function coldTimeOf(bytes: number): number {
  return LATENCY + bytes / ORIGIN_RATE;
}

/**
 * Fills of all hosts. A host fetches an image from the shared tier if that has the image. If not, three hosts fetch it from
 * the origin, through the tier, and the others wait until the tier has it.
 */
export class Fills {
  originBytes = 0;
  /** The number of fetches of each image from the origin. */
  readonly originFetches: Uint32Array;
  readonly #images: readonly WorkloadImage[];
  readonly #tier: HostCache;
  readonly #links: readonly Link[];
  /** The number of hosts that fetch each image from the origin. */
  readonly #holders: Uint32Array;
  readonly #waiting = new Map<number, Fill[]>();
  readonly #queue: EventQueue;
  readonly #onEnd: (fill: Fill) => void;

  /** @param onEnd is called when the host of a fill has the image */
  constructor(
    { hosts, images, cacheBytes }: Workload,
    queue: EventQueue,
    onEnd: (fill: Fill) => void,
  ) {
    this.#images = images;
    this.#tier = new HostCache(cacheBytes);
    this.#links = hosts.map(() => ({ fills: [], computed: 0, due: Infinity }));
    this.#holders = new Uint32Array(images.length);
    this.originFetches = new Uint32Array(images.length);
    this.#queue = queue;
    this.#onEnd = onEnd;
  }

  /** Begins to download an image for a start. Other starts may join it. */
  begin(row: number, image: number, start: number, now: number): Fill {
    const fill = { row, image, starts: [start], isFromOrigin: false, left: 0, rate: 0 };
    this.#begin(fill, now);
    return fill;
  }

  #begin(fill: Fill, now: number): void {
    const { image } = fill;
    const { bytes } = this.#images[image]!;
    if (this.#tier.take(image)) {
      this.#tier.release(image);
    } else if (this.#holders[image]! < SLOTS) {
      this.#holders[image]! += 1;
      fill.isFromOrigin = true;
      this.originBytes += bytes;
      this.originFetches[image]! += 1;
    } else {
      this.#waiting.set(image, [...(this.#waiting.get(image) ?? []), fill]);
      return;
    }
    fill.left = bytes + LATENCY * maxRateOf(fill);
    const link = this.#links[fill.row]!;
    progress(link, now);
    link.fills.push(fill);
    this.#share(fill.row);
  }

  /** Ends the fills of a host that have all bytes. */
  #end(row: number, now: number): void {
    const link = this.#links[row]!;
    // The link was shared again since this time was scheduled.
    if (now !== link.due) return;
    progress(link, now);
    const hasEnded = ({ left, rate }: Fill) => left <= TOLERANCE * rate;
    const ended = link.fills.filter(hasEnded);
    link.fills = link.fills.filter((fill) => !hasEnded(fill));
    this.#share(row);
    for (const fill of ended) if (fill.isFromOrigin) this.#store(fill.image, now);
    for (const fill of ended) this.#onEnd(fill);
  }

  /** Stores an image in the tier, through which it came, and begins the fills that waited for it. */
  #store(image: number, now: number): void {
    const { bytes } = this.#images[image]!;
    this.#holders[image]! -= 1;
    if (!this.#tier.take(image)) {
      this.#tier.reserve(bytes);
      this.#tier.publish(image, bytes);
    }
    this.#tier.release(image);
    const waiting = this.#waiting.get(image) ?? [];
    this.#waiting.delete(image);
    for (const fill of waiting) this.#begin(fill, now);
  }

  /** Gives each download its part of the link: the slowest ones first, so that others get what they leave. */
  #share(row: number): void {
    const link = this.#links[row]!;
    const slowest = [...link.fills].sort((one, other) => maxRateOf(one) - maxRateOf(other));
    let rate = HOST_RATE;
    let sharers = slowest.length;
    let next = Infinity;
    for (const fill of slowest) {
      fill.rate = Math.min(maxRateOf(fill), rate / sharers);
      rate -= fill.rate;
      sharers -= 1;
      next = Math.min(next, fill.left / fill.rate);
    }
    const due = link.computed + next;
    link.due = due;
    if (next < Infinity) this.#queue.add(due, () => this.#end(row, due));
  }
}

const maxRateOf = ({ isFromOrigin }: Fill) => (isFromOrigin ? ORIGIN_RATE : HOST_RATE);

/** Computes how many bytes the downloads of a link still miss. */
function progress(link: Link, now: number): void {
  for (const fill of link.fills) fill.left -= fill.rate * (now - link.computed);
  link.computed = now;
}
