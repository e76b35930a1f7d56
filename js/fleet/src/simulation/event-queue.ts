/** Numbers in the order of their times: a binary heap. Numbers of the same time leave in the order of their arrival. */
export class EventQueue {
  #times = new Float64Array(1024);
  #orders = new Float64Array(1024);
  #values = new Float64Array(1024);
  #size = 0;
  #added = 0;

  /** The time of the first number, or infinity if there is none. */
  get time(): number {
    return this.#size === 0 ? Infinity : this.#times[0]!;
  }

  add(time: number, value: number): void {
    if (this.#size === this.#times.length) this.#grow();
    let at = this.#size;
    this.#size += 1;
    const order = this.#added;
    this.#added += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#times[parent]! <= time) break;
      this.#copy(parent, at);
      at = parent;
    }
    this.#set(at, time, order, value);
  }

  /** Removes the first number and returns it. There must be one. */
  take(): number {
    const first = this.#values[0]!;
    this.#size -= 1;
    const last = this.#size;
    const [time, order, value] = [this.#times[last]!, this.#orders[last]!, this.#values[last]!];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      if (
        child + 1 < last &&
        this.#isBefore(child + 1, this.#times[child]!, this.#orders[child]!)
      ) {
        child += 1;
      }
      if (!this.#isBefore(child, time, order)) break;
      this.#copy(child, at);
      at = child;
    }
    this.#set(at, time, order, value);
    return first;
  }

  #isBefore(at: number, time: number, order: number): boolean {
    return this.#times[at]! < time || (this.#times[at] === time && this.#orders[at]! < order);
  }

  #copy(from: number, to: number): void {
    this.#set(to, this.#times[from]!, this.#orders[from]!, this.#values[from]!);
  }

  #set(at: number, time: number, order: number, value: number): void {
    this.#times[at] = time;
    this.#orders[at] = order;
    this.#values[at] = value;
  }

  #grow(): void {
    const longer = (values: Float64Array) => {
      const copy = new Float64Array(2 * values.length);
      copy.set(values);
      return copy;
    };
    this.#times = longer(this.#times);
    this.#orders = longer(this.#orders);
    this.#values = longer(this.#values);
  }
}
