/** An event of a simulation. */
interface Event {
  readonly time: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Events in the order of their times: a binary heap. Those of the same time happen in the order of their arrival. */
export class EventQueue {
  readonly #heap: Event[] = [];
  #added = 0;

  /** The time of the first event, or infinity if there is none. */
  get time(): number {
    return this.#heap[0]?.time ?? Infinity;
  }

  add(time: number, happen: () => void): void {
    const heap = this.#heap;
    const event = { time, order: this.#added, happen };
    this.#added += 1;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.time <= time) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  /** Removes the first event, and lets it happen. There must be one. */
  next(): void {
    const heap = this.#heap;
    const { happen } = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) this.#sink(last);
    happen();
  }

  /** Puts an event in the place of the first one, and moves it down to its own. */
  #sink(event: Event): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, event)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = event;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order);
}
