/** What the threads that fetch a snapshot share while they share out its ranges. */

/** The frames of a range: [first, end). */
export interface FrameRange {
  readonly index: number;
  readonly first: number;
  readonly end: number;
}

/** A range that is to be fetched. */
export interface Task extends FrameRange {
  /**
   * What is to be done: to fetch it; to fetch it although another connection is at it, which is slow;
   * or to decode what came early.
   */
  readonly kind: "fetch" | "hedge" | "early";
}

/** The time, in milliseconds, by a clock that all threads have and that no one sets. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** What is shared, as it crosses between threads. */
export interface SchedulerData {
  readonly bounds: SharedArrayBuffer;
  readonly numbers: SharedArrayBuffer;
  readonly facts: SharedArrayBuffer;
}

/** Numbers of which there is one. */
const [NEXT, WORKERS, LIMIT, HEDGING] = [0, 1, 2, 3] as const;
const COMMON_NUMBERS = 4;

/** Facts of which there is one: when a server last asked for less, and what whole requests took. */
const [SLOWED, DURATION, BYTES, REQUESTS, HEDGED_BYTES] = [0, 1, 2, 3, 4] as const;
const COMMON_FACTS = 5;

/** Facts of each range: when it was begun, how many of its bytes came, and how often it was hedged. */
const [BEGUN, RECEIVED, HEDGES] = [0, 1, 2] as const;
const FACTS = 3;

/** How a range is that was asked for before the ranges were known. */
const [PENDING, READY, FAILED, TAKEN] = [0, 1, 2, 3] as const;

/** How long a limit stays that a server made lower, in milliseconds. */
const SLOW_FOR = 1_000;

/** How much slower than others a range is that is hedged, and by how many milliseconds at least. */
const [SLOW_FACTOR, SLOW_AT_LEAST] = [2, 100];

/** How much slower it is if all that is missing is asked for, and not what it would come to last. */
const STUCK_FACTOR = 6;

/** How often a range is hedged. */
const MAX_HEDGES = 3;

/** How much of all that is fetched may be fetched twice for being slow. */
const HEDGED_SHARE = 0.03;

/**
 * Which ranges there are, who has which, and how they get on. What is measured is written without care
 * for other threads: at worst a measurement is lost.
 */
export class RangeScheduler {
  readonly #bounds: Uint32Array;
  readonly #numbers: Int32Array;
  readonly #facts: Float64Array;

  constructor(readonly data: SchedulerData) {
    this.#bounds = new Uint32Array(data.bounds);
    this.#numbers = new Int32Array(data.numbers);
    this.#facts = new Float64Array(data.facts);
  }

  /** @param early how many of the ranges, the first ones, were asked for before */
  static of(bounds: Uint32Array, limit: number, early: number): RangeScheduler {
    const count = bounds.length / 2;
    const numbers = (COMMON_NUMBERS + early) * Int32Array.BYTES_PER_ELEMENT;
    const facts = (COMMON_FACTS + FACTS * count) * Float64Array.BYTES_PER_ELEMENT;
    const scheduler = new RangeScheduler({
      bounds: new SharedArrayBuffer(bounds.byteLength),
      numbers: new SharedArrayBuffer(numbers),
      facts: new SharedArrayBuffer(facts),
    });
    scheduler.#bounds.set(bounds);
    scheduler.limit = limit;
    scheduler.#numbers[NEXT] = early;
    for (let index = 0; index < early; index += 1) scheduler.begin(index, now());
    return scheduler;
  }

  /** How many ranges there are. */
  get count(): number {
    return this.#bounds.length / 2;
  }

  range(index: number): FrameRange {
    const [first, end] = this.#bounds.subarray(2 * index, 2 * index + 2);
    return { index, first: first as number, end: end as number };
  }

  /** How many connections there may be, of all threads. */
  get limit(): number {
    return Atomics.load(this.#numbers, LIMIT);
  }

  set limit(limit: number) {
    Atomics.store(this.#numbers, LIMIT, limit);
  }

  /** Has as few connections as half of those that there may be, because the server asked for less. */
  slowDown(): void {
    if (now() - this.slowed < SLOW_FOR) return;
    this.#facts[SLOWED] = now();
    this.limit = Math.max(1, this.limit >> 1);
  }

  /** When the server last asked for less. */
  get slowed(): number {
    return this.#facts[SLOWED] as number;
  }

  /** A number for a thread, from 0. */
  join(): number {
    return Atomics.add(this.#numbers, WORKERS, 1);
  }

  /** How many of the connections a thread may have, which are shared out evenly. */
  share(worker: number, workers: number): number {
    return Math.floor((this.limit + workers - 1 - worker) / workers);
  }

  /** Says how many bytes of a range are there that was asked for before. The others are to be fetched. */
  earlyCame(index: number, bytes: number): void {
    this.#setFact(index, RECEIVED, bytes);
    Atomics.store(this.#numbers, COMMON_NUMBERS + index, bytes > 0 ? READY : FAILED);
  }

  /** How many bytes of a range came. */
  receivedOf(index: number): number {
    return this.#fact(index, RECEIVED);
  }

  /** Whether a range that was asked for before holds up all others, of which `left` bytes are to come. */
  isLate(index: number, received: number, left: number): boolean {
    const isPending = Atomics.load(this.#numbers, COMMON_NUMBERS + index) === PENDING;
    if (!isPending || Atomics.load(this.#numbers, NEXT) < this.count) return false;
    this.#setFact(index, RECEIVED, received);
    return this.slowness(index, left) >= SLOW_FACTOR;
  }

  /** Takes a range that no one has. */
  take(): Task | undefined {
    for (let index = 0; index < this.#numbers.length - COMMON_NUMBERS; index += 1) {
      const state = Atomics.load(this.#numbers, COMMON_NUMBERS + index);
      if (state === PENDING || state === TAKEN) continue;
      const found = Atomics.exchange(this.#numbers, COMMON_NUMBERS + index, TAKEN);
      if (found === READY) return this.#taken(index, "early");
      if (found === FAILED) return this.#taken(index, "fetch");
    }
    // So that it does not count beyond all bounds.
    if (Atomics.load(this.#numbers, NEXT) >= this.count) return undefined;
    const index = Atomics.add(this.#numbers, NEXT, 1);
    return index < this.count ? this.#taken(index, "fetch") : undefined;
  }

  /**
   * Takes what someone has, but what would come faster if it were asked for again: what comes last of a
   * range that is slower than others, or all of one that is stuck, or as much of it as there may be.
   *
   * @param missing the frames of a range that are to be fetched yet
   * @param span how many bytes lie from the first of some frames to the last
   * @param total how many bytes there are to fetch in all
   */
  takeSlow(
    missing: (range: FrameRange) => readonly number[],
    span: (frames: readonly number[]) => number,
    total: number,
  ): Task | undefined {
    // If another thread is at it, there is a next time.
    if (Atomics.exchange(this.#numbers, HEDGING, 1) !== 0) return undefined;
    try {
      for (let index = 0; index < this.count; index += 1) {
        const [begun, hedges] = [this.#fact(index, BEGUN), this.#fact(index, HEDGES)];
        if (begun === 0 || hedges === MAX_HEDGES) continue;
        const frames = missing(this.range(index));
        const factor = this.slowness(index, span(frames));
        if (factor < SLOW_FACTOR) continue;
        const budget = HEDGED_SHARE * total - (this.#facts[HEDGED_BYTES] as number);
        let again = factor > STUCK_FACTOR ? frames : frames.slice(frames.length >> 1);
        while (again.length > 0 && span(again) > budget) again = again.slice(1);
        const [first, last] = [again[0], again.at(-1)];
        if (first === undefined || last === undefined) continue;
        this.#facts[HEDGED_BYTES] = (this.#facts[HEDGED_BYTES] as number) + span(again);
        this.#setFact(index, HEDGES, hedges + 1);
        return { index, first, end: last + 1, kind: "hedge" };
      }
      return undefined;
    } finally {
      Atomics.store(this.#numbers, HEDGING, 0);
    }
  }

  /**
   * How many times as long as usual it will take until the bytes are there that are left of a range: 0 if
   * that is not known, or not worth anything.
   */
  slowness(index: number, left: number): number {
    const [duration, bytes] = [this.#facts[DURATION] as number, this.#facts[BYTES] as number];
    const begun = this.#fact(index, BEGUN);
    if (bytes === 0 || left === 0 || begun === 0) return 0;
    const [received, elapsed] = [this.#fact(index, RECEIVED), now() - begun];
    const expected = received === 0 ? elapsed : (left * elapsed) / received;
    // Until the first byte comes, a short request takes as long as any.
    const least = received === 0 ? duration / (this.#facts[REQUESTS] as number) : 0;
    const usual = Math.max((left * duration) / bytes, least);
    return expected > usual + SLOW_AT_LEAST ? expected / usual : 0;
  }

  /** Counts bytes of a range that came. */
  received(index: number, bytes: number): void {
    this.#setFact(index, RECEIVED, this.#fact(index, RECEIVED) + bytes);
  }

  /** Says that someone begins with a range, or begins again. */
  begin(index: number, time: number): void {
    this.#setFact(index, RECEIVED, 0);
    this.#setFact(index, BEGUN, time);
  }

  /** How long ago someone began with a range, in milliseconds: 0 if no one is at it. */
  ageOf(index: number): number {
    const begun = this.#fact(index, BEGUN);
    return begun === 0 ? 0 : now() - begun;
  }

  /** Says that no one is at a range: it is done, or rests. */
  rest(index: number): void {
    this.#setFact(index, BEGUN, 0);
  }

  /** Notes what a request took, for those that are compared with it. */
  took(milliseconds: number, bytes: number): void {
    this.#facts[DURATION] = (this.#facts[DURATION] as number) + milliseconds;
    this.#facts[BYTES] = (this.#facts[BYTES] as number) + bytes;
    this.#facts[REQUESTS] = (this.#facts[REQUESTS] as number) + 1;
  }

  #taken(index: number, kind: Task["kind"]): Task {
    if (kind === "fetch") this.begin(index, now());
    return { ...this.range(index), kind };
  }

  #fact(index: number, fact: number): number {
    return this.#facts[COMMON_FACTS + FACTS * index + fact] as number;
  }

  #setFact(index: number, fact: number, value: number): void {
    this.#facts[COMMON_FACTS + FACTS * index + fact] = value;
  }
}
