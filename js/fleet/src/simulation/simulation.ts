import { FleetError } from "../error.js";
import { CachedHosts } from "./cached-hosts.js";
import { EventQueue } from "./event-queue.js";
import { type Fill, Fills } from "./fills.js";
import { HostCache } from "./host-cache.js";
import { Moved } from "./moved.js";
import { type CheckedOptions, LATENCY } from "./options.js";
import { MAKERS, type PolicyName } from "./policies/index.js";
import type { Fleet, Policy } from "./policy.js";
import { Random } from "./random.js";
import { BOOT, Recorder } from "./recorder.js";
import type { SimulationResult } from "./result.js";
import type { Workload } from "./workload.js";

/** One run of a workload under a policy: a discrete-event simulation. */
export class Simulation {
  readonly #workload: Workload;
  readonly #name: PolicyName;
  readonly #fleet: Fleet;
  readonly #policy: Policy;
  readonly #hosts: CachedHosts;
  readonly #fills: Fills;
  readonly #recorder: Recorder;
  readonly #moved: Moved;
  /** The ends of sandboxes, as their start; and of fills, as -1 minus the row of the host. */
  readonly #queue = new EventQueue();
  /** The fills of each host, by image. */
  readonly #filling: readonly Map<number, Fill>[];
  /** The row of the host of each start. */
  readonly #rows: Uint32Array;
  #now = 0;

  constructor(workload: Workload, name: PolicyName, options: CheckedOptions) {
    const { images, starts } = workload;
    const hostRate = options.hostRate / 1000;
    const originRate = Math.min(options.originRate / 1000, hostRate);
    this.#workload = workload;
    this.#name = name;
    this.#hosts = new CachedHosts(workload, options.residencyDelay);
    const { hosts, residency } = this.#hosts;
    this.#fleet = {
      ...{ hosts, images, slots: slotsOf(workload), random: new Random(options.seed) },
      residentsOf: (image) => residency.hostsOf(image),
    };
    this.#policy = MAKERS[name](this.#fleet);
    const tier = new HostCache<number>(options.tierBytes);
    const rates = { originRate, hostRate, slots: options.fillSlots };
    this.#fills = new Fills(workload, tier, rates, (row, time) => this.#queue.add(time, -1 - row));
    const coldTimeOf = (bytes: number) => BOOT + LATENCY + bytes / originRate;
    this.#recorder = new Recorder(workload, hosts.columns(), coldTimeOf);
    this.#moved = new Moved(this.#fleet, this.#policy, starts.length);
    this.#filling = workload.hosts.map(() => new Map());
    this.#rows = new Uint32Array(starts.length);
  }

  /** The number of running sandboxes on each host. */
  get loads(): readonly number[] {
    const { loads, count } = this.#fleet.hosts.columns();
    return [...loads.subarray(0, count)];
  }

  run(): SimulationResult {
    const { times } = this.#workload;
    const changes = this.#hosts.changes();
    const last = times.at(-1)!;
    let [start, change] = [0, 0];
    for (;;) {
      const startsAt = times[start] ?? Infinity;
      const changesAt = changes[change]?.time ?? Infinity;
      this.#now = Math.min(startsAt, changesAt, this.#queue.time);
      if (this.#now === Infinity) break;
      this.#hosts.advance(this.#now);
      this.#recorder.balance.advance(Math.min(this.#now, last));
      if (this.#now === changesAt) {
        this.#hosts.change(changes[change]!);
        change += 1;
      } else if (this.#now === this.#queue.time) {
        const event = this.#queue.take();
        if (event >= 0) this.#stop(event);
        else for (const fill of this.#fills.ended(-1 - event, this.#now)) this.#filled(fill);
      } else {
        this.#start(start);
        start += 1;
      }
    }
    const moved = this.#moved.share;
    return { policy: this.#name, ...this.#recorder.result(this.#fills), moved };
  }

  #start(start: number): void {
    const image = this.#workload.starts[start]!;
    const row = this.#place(start, image);
    this.#rows[start] = row;
    this.#hosts.addLoad(row, 1);
    this.#recorder.placed(row);
    const cache = this.#hosts.cacheOf(row);
    const running = this.#filling[row]!.get(image);
    if (cache.take(image)) {
      this.#recorder.hits += 1;
      this.#begin(start);
    } else if (running !== undefined) {
      running.starts.push(start);
    } else {
      const fill = { row, image, starts: [start], isFromOrigin: false };
      this.#filling[row]!.set(image, fill);
      cache.reserve(image, this.#workload.images[image]!.bytes);
      this.#fills.begin(fill, this.#now);
    }
  }

  #place(start: number, image: number): number {
    const { available } = this.#hosts;
    if (available === 0) throw noHost(start, this.#now);
    const { random } = this.#fleet;
    const before = random.state;
    const row = this.#policy.place(image, this.#now);
    if (available > 1) this.#moved.probe(start, image, this.#now, row, before);
    this.#policy.count?.(image, this.#now);
    return row;
  }

  /** Lets a sandbox run whose image is in use. */
  #begin(start: number): void {
    const runs = this.#now + BOOT;
    this.#recorder.runs(start, runs);
    this.#queue.add(runs + this.#workload.durations[start]!, start);
  }

  #stop(start: number): void {
    const row = this.#rows[start]!;
    this.#hosts.addLoad(row, -1);
    this.#hosts.cacheOf(row).release(this.#workload.starts[start]!);
  }

  #filled({ row, image, starts }: Fill): void {
    this.#filling[row]!.delete(image);
    this.#hosts.publish(row, image, this.#workload.images[image]!.bytes);
    for (const [index, start] of starts.entries()) {
      if (index > 0) this.#hosts.cacheOf(row).take(image);
      this.#begin(start);
    }
  }
}

function noHost(start: number, now: number): FleetError {
  return new FleetError("ERR_NO_HOST", `no host is available for start ${start} at ${now} ms`);
}

/** Returns the number of sandboxes for which hosts are made: twice the mean of those that run. */
function slotsOf({ hosts, times, durations }: Workload): number {
  const sum = durations.reduce((total, duration) => total + duration, 0);
  const span = Math.max(1, times.at(-1)! - times[0]!);
  const present = hosts.filter(({ joins }) => joins === 0).length;
  return Math.max(4, Math.ceil((2 * sum) / span / Math.max(1, present)));
}
