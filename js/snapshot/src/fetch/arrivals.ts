import type { Frames } from "../format/frames.js";
import type { RangeScheduler } from "./range-scheduler.js";

/** Estimates when the frames arrive that connections are fetching. */
export class Arrivals {
  readonly #frames: Frames;
  readonly #scheduler: RangeScheduler;
  /** The number of the range of each frame, plus 1; 0 if it has none. */
  readonly #ranges: Uint32Array;

  constructor(frames: Frames, scheduler: RangeScheduler) {
    [this.#frames, this.#scheduler] = [frames, scheduler];
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
   * @param patience how long it may take before it is late, if that is longer than twice the latency
   */
  in(frame: number, latency: number, patience = 0): number {
    const index = (this.#ranges[frame] as number) - 1;
    const { timings, next, limit } = this.#scheduler;
    if (index >= next) return timings.average * (1 + (index + 1 - next) / limit.value);
    if (index < 0 || !timings.isRunning(index)) return Number.POSITIVE_INFINITY;
    const { first } = this.#scheduler.range(index);
    const [elapsed, received] = [timings.elapsed(index), timings.receivedOf(index)];
    const end = this.#frames.fileOffset(frame) + this.#frames.compressedLength(frame);
    const left = Math.max(0, end - this.#frames.fileOffset(first) - received);
    if (received > 0) return (left / received) * Math.max(0, elapsed - latency);
    return elapsed < Math.max(2 * latency, patience)
      ? Math.max(0, latency - elapsed)
      : Number.POSITIVE_INFINITY;
  }
}
