import { fstatSync, futimesSync, lutimesSync } from "node:fs";

/** The year 2100, in microseconds. A clock beyond it was set by mistake, and numbers could not represent it exactly. */
const MAX_TIME = 4_102_444_800_000_000n;

/**
 * Records when images are used, as the modification times of their files, in microseconds.
 *
 * The times come from a clock that all processes share and that never goes back, even if the system's does: the
 * modification time of one file.
 */
export class Recency {
  readonly #clock: number;

  /** @param clock the open file whose modification time is the clock */
  constructor(clock: number) {
    this.#clock = clock;
  }

  /** Marks an image as the most recently used. */
  touch(path: string): void {
    try {
      const time = lastUsed(fstatSync(this.#clock, { bigint: true }));
      const last = time < MAX_TIME ? time : 0n;
      const now = BigInt(Date.now()) * 1000n;
      // Node truncates to microseconds: half a microsecond more keeps rounding from losing one.
      const seconds = (Number(now > last ? now : last + 1n) + 0.5) / 1e6;
      futimesSync(this.#clock, seconds, seconds);
      lutimesSync(path, seconds, seconds);
    } catch {
      // An image stays usable where its time cannot be written, as on a read-only file system.
    }
  }
}

/** Returns when a file was last used, in microseconds. */
export function lastUsed({ mtimeNs }: { readonly mtimeNs: bigint }): bigint {
  return mtimeNs / 1000n;
}
