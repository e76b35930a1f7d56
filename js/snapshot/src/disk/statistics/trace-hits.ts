import type { DecodeJob } from "../../decode/decode-job.js";
import type { FrameStates } from "../../decode/frame-states.js";
import type { DiskImage } from "../disk-image.js";
import type { TraceStats } from "./disk-stats.js";

/** For how long a first read tells what the next ones need, in milliseconds: of a frame in the trace, and of another. */
const [NAMED_MEMORY, OTHER_MEMORY] = [10_000, 2_000] as const;

/** Counts the frames that the trace had fetched by the time at which they were first read. */
export class TraceHits {
  readonly #job: DecodeJob;
  readonly #image: DiskImage;
  /** Frames that are missing here were missing when the disk was opened, and have not been read since. */
  readonly #unread: FrameStates;
  #hits = 0;
  #misses = 0;
  /** When a frame of the trace was last read first, and another one, as `performance.now()` says. */
  #lastNamed = Number.NEGATIVE_INFINITY;
  #lastOther = Number.NEGATIVE_INFINITY;
  /** The frames of the trace, and how many of them are done, at least, from the first on. */
  #named: readonly number[] | undefined;
  #done = 0;

  constructor(job: DecodeJob, image: DiskImage) {
    [this.#job, this.#image] = [job, image];
    this.#unread = job.states.copy();
  }

  /** Counts the frames that a read of [start, end) is the first to need. */
  read(start: number, end: number): void {
    const { order, states } = this.#job;
    for (const frame of this.#image.neededFrames(start, end)) {
      if (this.#unread.isTaken(frame)) continue;
      this.#unread.finish(frame);
      const isNamed = order.first.has(frame);
      if (isNamed && states.isDone(frame)) this.#hits += 1;
      else this.#misses += 1;
      if (isNamed) this.#lastNamed = performance.now();
      else this.#lastOther = performance.now();
    }
  }

  /** Whether readers find in the trace what they need at the moment, so that everything else can wait. */
  get isServing(): boolean {
    const now = performance.now();
    if (now - this.#lastNamed > NAMED_MEMORY || now - this.#lastOther < OTHER_MEMORY) return false;
    const { order, states } = this.#job;
    // One of them has been read, so that the trace is known.
    this.#named ??= [...order.first];
    const named = this.#named;
    while (this.#done < named.length && states.isDone(named[this.#done] as number)) this.#done += 1;
    return this.#done === named.length;
  }

  get stats(): TraceStats {
    const [hits, misses, all] = [this.#hits, this.#misses, this.#hits + this.#misses];
    const hitRate = all === 0 ? undefined : hits / all;
    return { frames: this.#job.order.first.size, hits, misses, hitRate };
  }
}
