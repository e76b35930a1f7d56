import type { HostColumns } from "../placement/hosts.js";

/** The number of instants. */
const SAMPLES = 1_000;

/** The share of the time that is not sampled. */
const WARM_UP = 0.1;

/** Samples the maximum over the mean of running sandboxes at equal intervals. */
export class Balance {
  readonly #hosts: HostColumns;
  readonly #begin: number;
  readonly #span: number;
  #next = WARM_UP * SAMPLES;
  #sum = 0;
  #count = 0;

  constructor(hosts: HostColumns, begin: number, end: number) {
    this.#hosts = hosts;
    this.#begin = begin;
    this.#span = end - begin;
  }

  /** The mean of the samples; 1 without any. */
  get mean(): number {
    return this.#count === 0 ? 1 : this.#sum / this.#count;
  }

  /** Takes the samples that are due before an event at this time changes the loads. */
  advance(now: number): void {
    while (this.#next < SAMPLES && this.#begin + (this.#span * this.#next) / SAMPLES <= now) {
      this.#sample();
      this.#next += 1;
    }
  }

  #sample(): void {
    const { count, loads, capacities } = this.#hosts;
    let [available, sum, most] = [0, 0, 0];
    for (let row = 0; row < count; row += 1) {
      if (capacities[row] === 0) continue;
      available += 1;
      sum += loads[row]!;
      most = Math.max(most, loads[row]!);
    }
    if (sum === 0) return;
    this.#sum += most / (sum / available);
    this.#count += 1;
  }
}

/** Returns the maximum over the mean of numbers; 1 if there are none. */
export function maxOverMean(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  return sum === 0 ? 1 : Math.max(...values) / (sum / values.length);
}
