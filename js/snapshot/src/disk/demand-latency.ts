/** For how long a slow request, a miss or a read counts, in milliseconds. */
const MEMORY = 500;

/** A request is slow if it takes this many times as long as the fastest, and this many milliseconds longer. */
const [SLOW_FACTOR, MIN_DELAY] = [1.5, 10] as const;

/** The weight of the latest request in the average. */
const WEIGHT = 0.5;

/** Tells whether the fill slows down the requests of readers: by whether they take longer than the fastest of them. */
export class DemandLatency {
  #fastest = Number.POSITIVE_INFINITY;
  #average = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** The duration of the fastest request, in milliseconds; `Infinity` before the first. */
  get fastest(): number {
    return this.#fastest;
  }

  /** Notes the duration of a request while nothing else was fetched, in milliseconds. */
  begin(duration: number): void {
    this.#fastest = Math.min(this.#fastest, duration);
  }

  /** Counts a request. @param duration in milliseconds */
  add(duration: number): void {
    const now = performance.now();
    this.#average = this.isRecent ? WEIGHT * duration + (1 - WEIGHT) * this.#average : duration;
    this.#fastest = Math.min(this.#fastest, duration);
    this.#last = now;
  }

  /** Whether a reader had to request something a moment ago. */
  get isRecent(): boolean {
    return performance.now() - this.#last < MEMORY;
  }

  /** Whether the requests of readers are slow at the moment. */
  get isSlow(): boolean {
    if (!this.isRecent) return false;
    return this.#average > Math.max(SLOW_FACTOR * this.#fastest, this.#fastest + MIN_DELAY);
  }
}
