import type { FrameStates } from "../decode/frame-states.js";
import type { Frames } from "../format/frames.js";
import type { RangeScheduler } from "./range-scheduler.js";

/** How long a range may run before it is late for readers in bulk, in milliseconds. */
const BULK_LATE = 500;

/** Estimates when the frames arrive that connections are fetching. */
export class Arrivals {
  readonly #frames: Frames;
  readonly #states: FrameStates;
  readonly #scheduler: RangeScheduler;
  readonly #isLimited: boolean;
  /** The number of the range of each frame, plus 1; 0 if it has none. */
  readonly #ranges: Uint32Array;

  /** @param isLimited whether the rate of the requests is limited */
  constructor(frames: Frames, states: FrameStates, scheduler: RangeScheduler, isLimited: boolean) {
    [this.#frames, this.#states] = [frames, states];
    [this.#scheduler, this.#isLimited] = [scheduler, isLimited];
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
    const { timings, limit } = this.#scheduler;
    const untaken = this.#scheduler.next;
    // When a range is taken depends on the limit.
    if (index >= untaken && this.#isLimited) return Number.POSITIVE_INFINITY;
    if (index >= untaken) return timings.average * (1 + (index + 1 - untaken) / limit.value);
    if (index < 0 || !timings.isRunning(index)) return Number.POSITIVE_INFINITY;
    const [elapsed, received] = [timings.elapsed(index), timings.receivedOf(index)];
    if (isBulk && elapsed < BULK_LATE) return latency;
    if (received === 0) {
      return elapsed < 2 * latency ? Math.max(0, latency - elapsed) : Number.POSITIVE_INFINITY;
    }
    const { first } = this.#scheduler.range(index);
    const next = this.#states.firstMissing(first, frame) ?? frame;
    const end = this.#frames.fileOffset(frame) + this.#frames.compressedLength(frame);
    // A request that continues a range has received less than was there before.
    const left = Math.min(
      end - this.#frames.fileOffset(next),
      Math.max(0, end - this.#frames.fileOffset(first) - received),
    );
    return (left / received) * Math.max(0, elapsed - latency);
  }
}
