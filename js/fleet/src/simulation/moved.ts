import type { Fleet, Policy } from "./policy.js";

/** The number of decisions that are compared. */
const PROBES = 4_000;

/** Counts how many placements change if a host is missing. */
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

  /** The share of placements that changed. */
  get share(): number {
    return this.#probes === 0 ? 0 : this.#moved / this.#probes;
  }

  /** Decides once more without one of the hosts, if it is the turn of this start. Changes nothing in the fleet. */
  probe(start: number, image: number, now: number, chosen: number, before: number): void {
    if (start < this.#first || (start - this.#first) % this.#step !== 0) return;
    const { hosts, random } = this.#fleet;
    const { count, ids, capacities } = hosts.columns();
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
