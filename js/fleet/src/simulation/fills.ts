import type { HostCache } from "./host-cache.js";
import { Links } from "./links.js";
import { LATENCY } from "./options.js";
import type { Workload, WorkloadImage } from "./workload.js";

/** A download of an image into the cache of a host. */
export interface Fill {
  readonly row: number;
  readonly image: number;
  /** The starts that wait for it. */
  readonly starts: number[];
  isFromOrigin: boolean;
}

/** Rates are in bytes per millisecond. */
export interface FillOptions {
  readonly originRate: number;
  readonly hostRate: number;
  /** How many hosts may fetch an image from the origin at a time. */
  readonly slots: number;
}

/**
 * Fills of all hosts. A host fetches an image from the shared tier if that has the image. If not, some hosts fetch it from
 * the origin, through the tier, and the others wait for it to be there.
 */
export class Fills {
  /** Bytes and fetches of the origin, and bytes of the tier. */
  readonly totals = { originBytes: 0, originFetches: 0, tierBytes: 0 };
  /** The fetches of each image from the origin. */
  readonly fetches: Uint32Array;
  readonly #images: readonly WorkloadImage[];
  readonly #tier: HostCache<number>;
  readonly #options: FillOptions;
  readonly #links: Links<Fill>;
  readonly #holders: Uint32Array;
  readonly #waiting = new Map<number, Fill[]>();

  /** @param schedule is called with a time at which fills of a host may have ended: then call `ended` */
  constructor(
    { hosts, images }: Workload,
    tier: HostCache<number>,
    options: FillOptions,
    schedule: (row: number, time: number) => void,
  ) {
    this.#images = images;
    this.#tier = tier;
    this.#options = options;
    this.#links = new Links(hosts.length, options.hostRate, schedule);
    this.#holders = new Uint32Array(images.length);
    this.fetches = new Uint32Array(images.length);
  }

  begin(fill: Fill, now: number): void {
    const { image } = fill;
    if (this.#tier.take(image)) {
      this.#tier.release(image);
      this.#fetch(fill, now, this.#options.hostRate);
      this.totals.tierBytes += this.#images[image]!.bytes;
    } else if (this.#holders[image]! < this.#options.slots) {
      this.#holders[image]! += 1;
      fill.isFromOrigin = true;
      this.#fetch(fill, now, this.#options.originRate);
      this.totals.originBytes += this.#images[image]!.bytes;
      this.totals.originFetches += 1;
      this.fetches[image]! += 1;
    } else {
      const waiting = this.#waiting.get(image) ?? [];
      this.#waiting.set(image, waiting);
      waiting.push(fill);
    }
  }

  /** Returns the fills of a host that have ended. */
  ended(row: number, now: number): Fill[] {
    const ended = this.#links.ended(row, now);
    for (const fill of ended) if (fill.isFromOrigin) this.#fetched(fill.image, now);
    return ended;
  }

  /** Begins the fills that waited for an image to be fetched from the origin. */
  #fetched(image: number, now: number): void {
    this.#holders[image]! -= 1;
    this.#store(image);
    const waiting = this.#waiting.get(image) ?? [];
    this.#waiting.delete(image);
    for (const fill of waiting) this.begin(fill, now);
  }

  #fetch(fill: Fill, now: number, rate: number): void {
    const bytes = this.#images[fill.image]!.bytes + LATENCY * rate;
    this.#links.begin(fill.row, fill, bytes, rate, now);
  }

  /** Stores an image in the tier, through which it came. */
  #store(image: number): void {
    const { bytes } = this.#images[image]!;
    if (!this.#tier.take(image)) {
      if (!this.#tier.reserve(image, bytes)) return;
      this.#tier.publish(image, bytes);
    }
    this.#tier.release(image);
  }
}
