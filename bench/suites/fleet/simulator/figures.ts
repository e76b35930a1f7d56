/** Figures that are sampled during a simulation. */
import type { Fleet, Policy } from "./policies.ts";

/** Instants at which the load is sampled, and the share of the time, at its beginning, in which it is not. */
const SAMPLES = 1_000;
const WARM_UP = 0.1;

/** The maximum over the mean of running sandboxes, on average over instants at equal intervals. */
export class Balance {
  readonly #fleet: Fleet;
  readonly #begin: number;
  readonly #span: number;
  #next = WARM_UP * SAMPLES;
  #sum = 0;
  #count = 0;

  constructor(fleet: Fleet, begin: number, end: number) {
    this.#fleet = fleet;
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
    const { count, loads, capacities } = this.#fleet.hosts.columns();
    let available = 0;
    let sum = 0;
    let most = 0;
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

/** The number of decisions that are made twice. */
const PROBES = 4_000;

/**
 * The share of placements that change if one host is missing and all else is equal: of decisions after the first half
 * of the starts, each with and without one host, all hosts in turn.
 */
export class Moved {
  readonly #fleet: Fleet;
  readonly #policy: Policy;
  readonly #first: number;
  readonly #step: number;
  #probes = 0;
  #moved = 0;

  constructor(fleet: Fleet, policy: Policy, starts: number) {
    this.#fleet = fleet;
    this.#policy = policy;
    this.#first = Math.floor(starts / 2);
    this.#step = Math.max(1, Math.floor((starts - this.#first) / PROBES));
  }

  get share(): number {
    return this.#probes === 0 ? 0 : this.#moved / this.#probes;
  }

  /** Decides once more without one of the hosts, if it is the turn of this start. Changes nothing in the fleet. */
  probe(start: number, image: number, now: number, chosen: number, before: number): void {
    if (start < this.#first || (start - this.#first) % this.#step !== 0) return;
    const { hosts, random } = this.#fleet;
    const { count, ids, capacities } = hosts.columns();
    if (capacities.subarray(0, count).filter(Boolean).length < 2) return;
    const row = this.#probes % count;
    this.#probes += 1;
    if (capacities[row] === 0) return;
    const after = random.state;
    const host = hosts.get(ids[row]!)!;
    hosts.set({ ...host, available: false });
    random.state = before;
    if (this.#policy.place(image, now) !== chosen) this.#moved += 1;
    random.state = after;
    hosts.set(host);
  }
}
