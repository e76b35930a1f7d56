import { fstatSync, futimesSync, lutimesSync } from "node:fs";

/** The year 2100, in microseconds: a time that a clock had by mistake, and that numbers are too coarse for. */
const BEYOND = 4_102_444_800_000_000n;

/**
 * When images were last used: the times of their files, in microseconds, by a clock that all processes
 * share and that never goes back, whatever the system's does. It is the time of one file.
 */
export class Recency {
  readonly #clock: number;

  /** @param clock the open file whose time is the clock */
  constructor(clock: number) {
    this.#clock = clock;
  }

  /** Has an image be the one that was used last. */
  touch(path: string): void {
    try {
      const time = usedAt(fstatSync(this.#clock, { bigint: true }));
      const last = time < BEYOND ? time : 0n;
      const now = BigInt(Date.now()) * 1000n;
      // Node cuts off what is below a microsecond: half of one more keeps it from taking off another.
      const seconds = (Number(now > last ? now : last + 1n) + 0.5) / 1e6;
      futimesSync(this.#clock, seconds, seconds);
      lutimesSync(path, seconds, seconds);
    } catch {
      // An image can be used though nobody may note it, as where nothing may be written any more.
    }
  }
}

/** When a file was used, in microseconds. */
export function usedAt({ mtimeNs }: { readonly mtimeNs: bigint }): bigint {
  return mtimeNs / 1000n;
}
