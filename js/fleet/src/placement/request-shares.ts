import { checkId, checkNoOthers, checkNumber } from "../check.js";

/** Options of `RequestShares`. */
export interface RequestSharesOptions {
  /** After how many milliseconds a start counts half. From 1 to 1e12. Default: 60,000. */
  readonly halfLife?: number | undefined;
  /** The maximum number of images that are counted. From 1 to 1,048,576. Default: 16,384. */
  readonly maxImages?: number | undefined;
}

/** A count that decays. */
interface Decayed {
  count: number;
  /** When it had this value, in milliseconds. */
  at: number;
}

/**
 * Counts the starts of each image, recent ones more than old ones, for the `share` of `placement`. Reads no clock: times
 * are given by the caller, in milliseconds from any origin, and never decrease.
 *
 * @example
 * const shares = new RequestShares();
 * shares.add(digest, performance.now());
 * const { host } = placement(digest, hosts, { share: shares.of(digest, performance.now()) });
 */
export class RequestShares {
  readonly #halfLife: number;
  readonly #maxImages: number;
  readonly #images = new Map<string, Decayed>();
  readonly #all: Decayed = { count: 0, at: 0 };

  /** @throws {FleetError} `ERR_ARGUMENT` */
  constructor({ halfLife = 60_000, maxImages = 16_384, ...others }: RequestSharesOptions = {}) {
    checkNoOthers(others);
    checkNumber("halfLife", halfLife, 1, 1e12);
    checkNumber("maxImages", maxImages, 1, 2 ** 20);
    this.#halfLife = halfLife;
    this.#maxImages = maxImages;
  }

  /** Counts a start. @throws {FleetError} `ERR_ARGUMENT` */
  add(identity: string, now: number): void {
    checkId("identity", identity);
    this.#check(now);
    this.#count(this.#all, now);
    const image = this.#images.get(identity);
    if (image !== undefined) {
      this.#count(image, now);
      return;
    }
    if (this.#images.size >= this.#maxImages) this.#forgetHalf(now);
    this.#images.set(identity, { count: 1, at: now });
  }

  /** Returns the share of an image in the recent starts, from 0 to 1. @throws {FleetError} `ERR_ARGUMENT` */
  of(identity: string, now: number): number {
    this.#check(now);
    const image = this.#images.get(identity);
    if (image === undefined) return 0;
    return Math.min(1, this.#valueOf(image, now) / this.#valueOf(this.#all, now)) || 0;
  }

  #check(now: number): void {
    checkNumber("now", now, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }

  #count(decayed: Decayed, now: number): void {
    decayed.count = this.#valueOf(decayed, now) + 1;
    decayed.at = Math.max(decayed.at, now);
  }

  #valueOf({ count, at }: Decayed, now: number): number {
    return count * 2 ** (Math.min(0, at - now) / this.#halfLife);
  }

  /** Forgets the half of the images with the fewest recent starts. */
  #forgetHalf(now: number): void {
    const order = [...this.#images].sort(
      ([, one], [, other]) => this.#valueOf(one, now) - this.#valueOf(other, now),
    );
    for (const [identity] of order.slice(0, Math.ceil(order.length / 2))) {
      this.#images.delete(identity);
    }
  }
}
