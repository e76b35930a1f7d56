import type { HostColumns } from "../placement/hosts.js";
import { Balance, maxOverMean } from "./balance.js";
import type { Fills } from "./fills.js";
import type { SimulationResult, StartTimes } from "./result.js";
import type { Workload } from "./workload.js";

/** Milliseconds of a start with an image that is there. */
export const BOOT = 100;

/** Records a run. */
export class Recorder {
  hits = 0;
  readonly balance: Balance;
  readonly #workload: Workload;
  readonly #coldTimeOf: (bytes: number) => number;
  readonly #placements: number[];
  /** The time from each request until the sandbox runs, in milliseconds. */
  readonly #waits: Float64Array;

  /** @param coldTimeOf returns the milliseconds of one cold start alone of an image with so many bytes */
  constructor(workload: Workload, hosts: HostColumns, coldTimeOf: (bytes: number) => number) {
    const { times, starts } = workload;
    this.#workload = workload;
    this.#coldTimeOf = coldTimeOf;
    this.balance = new Balance(hosts, times[0]!, times.at(-1)!);
    this.#placements = workload.hosts.map(() => 0);
    this.#waits = new Float64Array(starts.length);
  }

  placed(row: number): void {
    this.#placements[row]! += 1;
  }

  runs(start: number, now: number): void {
    this.#waits[start] = now - this.#workload.times[start]!;
  }

  /** Returns all figures except the name of the policy and the share of moved placements. */
  result({ totals, fetches }: Fills): Omit<SimulationResult, "policy" | "moved"> {
    const { hosts, starts, images, flash } = this.#workload;
    const whole = this.#placements.filter((_, row) => {
      return hosts[row]!.joins === 0 && hosts[row]!.leaves === Infinity;
    });
    const waits = this.#waits.map((wait, start) => {
      return wait / this.#coldTimeOf(images[starts[start]!]!.bytes);
    });
    const all = {
      starts: starts.length,
      hits: this.hits,
      misses: starts.length - this.hits,
      hitRate: this.hits / starts.length,
      runningBalance: this.balance.mean,
      placementBalance: maxOverMean(whole),
      ...totals,
      startTimes: summaryOf(waits),
    };
    if (flash === undefined) return all;
    const crowd = waits.filter((_, start) => starts[start] === flash);
    const startTimes = summaryOf(crowd);
    return { ...all, flash: { starts: crowd.length, originFetches: fetches[flash]!, startTimes } };
  }
}

/** Returns the median and the maximum of some times. */
function summaryOf(times: Float64Array): StartTimes {
  if (times.length === 0) return { median: 0, worst: 0 };
  const sorted = times.slice().sort();
  return { median: sorted[sorted.length >> 1]!, worst: sorted.at(-1)! };
}
