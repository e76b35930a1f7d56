import { Hosts } from "../placement/hosts.js";
import { HostCache } from "./host-cache.js";
import { ResidencyView } from "./residency-view.js";
import type { Workload, WorkloadHost } from "./workload.js";

/** A host that joins or leaves. */
export interface HostChange {
  readonly time: number;
  readonly row: number;
  readonly isJoin: boolean;
}

/** The hosts of a fleet with their caches, and what the placer knows of them. Rows are indexes of the workload. */
export class CachedHosts {
  readonly hosts = new Hosts();
  readonly residency: ResidencyView;
  readonly #workload: readonly WorkloadHost[];
  readonly #caches: readonly HostCache<number>[];
  #available = 0;
  #now = 0;

  constructor({ hosts, images, cacheBytes }: Workload, residencyDelay: number) {
    this.#workload = hosts;
    for (const { id, joins } of hosts) {
      this.hosts.set({ id, available: joins === 0 });
      if (joins === 0) this.#available += 1;
    }
    this.residency = new ResidencyView(images.length, residencyDelay);
    this.#caches = hosts.map((_, row) => {
      return new HostCache(cacheBytes, (image) => this.#report(row, image, false));
    });
  }

  /** The number of hosts on which sandboxes can start. */
  get available(): number {
    return this.#available;
  }

  /** The hosts that join or leave later, in order. */
  changes(): HostChange[] {
    const changes = this.#workload.flatMap(({ joins, leaves }, row): HostChange[] => [
      { time: joins, row, isJoin: true },
      { time: leaves, row, isJoin: false },
    ]);
    const later = changes.filter(({ time }) => time > 0 && time < Infinity);
    return later.sort((one, other) => one.time - other.time);
  }

  /** Lets the time pass: the placer gets the reports that have arrived. */
  advance(now: number): void {
    this.#now = now;
    this.residency.advance(now);
  }

  cacheOf(row: number): HostCache<number> {
    return this.#caches[row]!;
  }

  addLoad(row: number, load: number): void {
    this.hosts.addLoad(this.#workload[row]!.id, load);
  }

  /** Stores an image for which space is reserved, begins a use of it, and reports it. */
  publish(row: number, image: number, bytes: number): void {
    this.cacheOf(row).publish(image, bytes);
    this.#report(row, image, true);
  }

  /** Lets a host join or leave. A host that leaves no longer reports. */
  change({ row, isJoin }: HostChange): void {
    const { id } = this.#workload[row]!;
    this.hosts.set({ ...this.hosts.get(id)!, available: isJoin });
    this.#available += isJoin ? 1 : -1;
    if (isJoin) return;
    for (const image of this.cacheOf(row).images()) {
      this.residency.report(this.#now, image, id, false);
    }
  }

  #report(row: number, image: number, isThere: boolean): void {
    const { id, leaves } = this.#workload[row]!;
    if (this.#now < leaves) this.residency.report(this.#now, image, id, isThere);
  }
}
