/**
 * A discrete-event simulation of a fleet under one policy: hosts whose caches evict as `ImageCache` does, fills that take
 * time, and a placer that knows the caches with a delay. Times are in milliseconds.
 */
import { Hosts } from "../../../../js/fleet/dist/placement/hosts.js";
import { EventQueue } from "./event-queue.ts";
import { Balance, Moved } from "./figures.ts";
import { coldTimeOf, type Fill, Fills } from "./fills.ts";
import { HostCache } from "./host-cache.ts";
import { type Fleet, POLICIES, type Policy, type PolicyName } from "./policies.ts";
import { Random } from "./random.ts";
import type { Workload } from "./workloads.ts";

/** The time from a start whose image is in the cache until its sandbox runs. */
const BOOT = 100;

/** How long a change of a cache takes to reach the placer. */
const RESIDENCY_DELAY = 500;

/** The figures of one policy. */
export interface Simulated {
  /** The share of starts whose image was in the cache of their host. */
  readonly hitRate: number;
  /** The maximum over the mean of the running sandboxes of a host, on average over time. */
  readonly balance: number;
  /** The bytes that the origin sent. */
  readonly originBytes: number;
  /** The share of placements that change if one host is missing. */
  readonly moved: number;
  /** The number of fetches of the image of the flash crowd from the origin. */
  readonly crowdFetches: number;
  /** The longest start of the flash crowd: 1 is the time of one cold start of the image on an idle fleet. */
  readonly slowestOfCrowd: number;
}

/** Simulates a workload under a policy. The same arguments give the same figures. */
export function simulate(workload: Workload, policy: PolicyName): Simulated {
  return new Simulation(workload, policy).run();
}

class Simulation {
  readonly #workload: Workload;
  readonly #fleet: Fleet;
  readonly #policy: Policy;
  readonly #caches: readonly HostCache[];
  /** The hosts that reported each image. */
  readonly #residents: readonly Set<string>[];
  readonly #queue = new EventQueue();
  readonly #reports = new EventQueue();
  readonly #fills: Fills;
  /** The fills of each host, by image. */
  readonly #filling: readonly Map<number, Fill>[];
  readonly #balance: Balance;
  readonly #moved: Moved;
  #now = 0;
  #hits = 0;
  #slowestOfCrowd = 0;

  constructor(workload: Workload, policy: PolicyName) {
    const { hosts, images, cacheBytes, starts } = workload;
    this.#workload = workload;
    const residents = images.map(() => new Set<string>());
    this.#residents = residents;
    this.#fleet = {
      hosts: new Hosts(hosts.map(({ id, joins }) => ({ id, available: joins === 0 }))),
      images,
      slots: slotsOf(workload),
      residentsOf: (image) => residents[image]!,
      random: new Random(1),
    };
    this.#policy = POLICIES[policy](this.#fleet);
    this.#caches = hosts.map((_, row) => {
      return new HostCache(cacheBytes, (image) => this.#report(row, image, false));
    });
    this.#fills = new Fills(workload, this.#queue, (fill) => this.#filled(fill));
    this.#filling = hosts.map(() => new Map());
    this.#balance = new Balance(this.#fleet, starts[0]!.time, starts.at(-1)!.time);
    this.#moved = new Moved(this.#fleet, this.#policy, starts.length);
  }

  run(): Simulated {
    const { starts, flash } = this.#workload;
    const last = starts.at(-1)!.time;
    const changes = this.#changes();
    let start = 0;
    let change = 0;
    for (;;) {
      const startsAt = starts[start]?.time ?? Infinity;
      const changesAt = changes[change]?.time ?? Infinity;
      this.#now = Math.min(startsAt, changesAt, this.#queue.time);
      if (this.#now === Infinity) break;
      while (this.#reports.time <= this.#now) this.#reports.next();
      this.#balance.advance(Math.min(this.#now, last));
      if (this.#now === changesAt) {
        this.#change(changes[change]!);
        change += 1;
      } else if (this.#now === this.#queue.time) {
        this.#queue.next();
      } else {
        this.#start(start);
        start += 1;
      }
    }
    return {
      hitRate: this.#hits / starts.length,
      balance: this.#balance.mean,
      originBytes: this.#fills.originBytes,
      moved: this.#moved.share,
      crowdFetches: flash === undefined ? 0 : this.#fills.originFetches[flash]!,
      slowestOfCrowd: this.#slowestOfCrowd,
    };
  }

  /** Returns the hosts that join or leave later, in order. */
  #changes() {
    const changes = this.#workload.hosts.flatMap(({ joins, leaves }, row) => [
      { time: joins, row, isJoin: true },
      { time: leaves, row, isJoin: false },
    ]);
    const later = changes.filter(({ time }) => time > 0 && time < Infinity);
    return later.sort((one, other) => one.time - other.time);
  }

  /** Lets a host join or leave. A host that leaves no longer reports. */
  #change({ row, isJoin }: { readonly row: number; readonly isJoin: boolean }): void {
    const { hosts } = this.#fleet;
    const host = hosts.get(this.#workload.hosts[row]!.id)!;
    hosts.set({ ...host, available: isJoin });
    if (isJoin) return;
    for (const image of this.#caches[row]!.images()) this.#reportLater(host.id, image, false);
  }

  #start(start: number): void {
    const { image } = this.#workload.starts[start]!;
    const row = this.#place(start, image);
    this.#addLoad(row, 1);
    const cache = this.#caches[row]!;
    const running = this.#filling[row]!.get(image);
    if (cache.take(image)) {
      this.#hits += 1;
      this.#begin(start, row);
    } else if (running !== undefined) {
      running.starts.push(start);
    } else {
      cache.reserve(this.#workload.images[image]!.bytes);
      this.#filling[row]!.set(image, this.#fills.begin(row, image, start, this.#now));
    }
  }

  #place(start: number, image: number): number {
    const { random } = this.#fleet;
    const before = random.state;
    const row = this.#policy.place(image, this.#now);
    this.#moved.probe(start, image, this.#now, row, before);
    this.#policy.count?.(image, this.#now);
    return row;
  }

  /** Lets a sandbox run whose image is in use. */
  #begin(start: number, row: number): void {
    const { time, image, duration } = this.#workload.starts[start]!;
    const runs = this.#now + BOOT;
    if (image === this.#workload.flash) {
      const cold = BOOT + coldTimeOf(this.#workload.images[image]!.bytes);
      this.#slowestOfCrowd = Math.max(this.#slowestOfCrowd, (runs - time) / cold);
    }
    this.#queue.add(runs + duration, () => {
      this.#addLoad(row, -1);
      this.#caches[row]!.release(image);
    });
  }

  #filled({ row, image, starts }: Fill): void {
    this.#filling[row]!.delete(image);
    const cache = this.#caches[row]!;
    cache.publish(image, this.#workload.images[image]!.bytes);
    this.#report(row, image, true);
    for (const [index, start] of starts.entries()) {
      if (index > 0) cache.take(image);
      this.#begin(start, row);
    }
  }

  #addLoad(row: number, load: number): void {
    this.#fleet.hosts.addLoad(this.#workload.hosts[row]!.id, load);
  }

  /** Reports that a host now has an image, or no longer has it. */
  #report(row: number, image: number, isThere: boolean): void {
    const { id, leaves } = this.#workload.hosts[row]!;
    if (this.#now < leaves) this.#reportLater(id, image, isThere);
  }

  #reportLater(host: string, image: number, isThere: boolean): void {
    const residents = this.#residents[image]!;
    this.#reports.add(this.#now + RESIDENCY_DELAY, () => {
      if (isThere) residents.add(host);
      else residents.delete(host);
    });
  }
}

/** Returns the number of sandboxes for which hosts are made: twice the mean of those that run. */
function slotsOf({ hosts, starts }: Workload): number {
  const sum = starts.reduce((total, { duration }) => total + duration, 0);
  const span = Math.max(1, starts.at(-1)!.time - starts[0]!.time);
  const present = hosts.filter(({ joins }) => joins === 0).length;
  return Math.max(4, Math.ceil((2 * sum) / span / Math.max(1, present)));
}
