import type { Frames } from "../format/frames.js";
import type { RangeScheduler } from "./range-scheduler.js";

/** How long a range may run before it is late for readers in bulk, in milliseconds. */
const BULK_LATE = 500;

/** Estimates when the frames arrive that connections are fetching. */
export class Arrivals {
  readonly #frames: Frames;
  readonly #scheduler: RangeScheduler;
  readonly #isLimited: boolean;
  /** The number of the range of each frame, plus 1; 0 if it has none. */
  readonly #ranges: Uint32Array;

  /** @param isLimited whether the rate of the requests is limited */
  constructor(frames: Frames, scheduler: RangeScheduler, isLimited: boolean) {
    [this.#frames, this.#scheduler, this.#isLimited] = [frames, scheduler, isLimited];
    this.#ranges = new Uint32Array(frames.count);
    for (let index = 0; index < scheduler.count; index += 1) {
      const { first, end } = scheduler.range(index);
      this.#ranges.fill(index + 1, first, end);
    }
  }

  /**
   * Returns in how many milliseconds a frame will have arrived; `Infinity` if it will not, or is late.
   *
   * @param latency how long the server takes for the first byte, in milliseconds
   * @param isBulk whether readers wait for many frames, and accept that a range runs for longer
   */
  in(frame: number, latency: number, isBulk: boolean): number {
    const index = (this.#ranges[frame] as number) - 1;
    const { timings, next, limit } = this.#scheduler;
    // When a range is taken depends on the limit.
    if (index >= next && this.#isLimited) return Number.POSITIVE_INFINITY;
    if (index >= next) return timings.average * (1 + (index + 1 - next) / limit.value);
    if (index < 0 || !timings.isRunning(index)) return Number.POSITIVE_INFINITY;
    const [elapsed, received] = [timings.elapsed(index), timings.receivedOf(index)];
    if (isBulk && elapsed < BULK_LATE) return latency;
    if (received === 0) {
      return elapsed < 2 * latency ? Math.max(0, latency - elapsed) : Number.POSITIVE_INFINITY;
    }
    const { first } = this.#scheduler.range(index);
    const end = this.#frames.fileOffset(frame) + this.#frames.compressedLength(frame);
    const left = Math.max(0, end - this.#frames.fileOffset(first) - received);
    return (left / received) * Math.max(0, elapsed - latency);
  }
}
