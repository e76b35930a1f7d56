import { checkId, checkNumber, invalid } from "../check.js";
import { hashText } from "./rendezvous.js";

/** A host on which sandboxes can start. */
export interface Host {
  /** A name that no other host has, of 1 to 256 characters. It must stay the same when the host restarts. */
  readonly id: string;
  /** Its load, such as the number of sandboxes that run on it. From 0 to 1e12. Default: 0. */
  readonly load?: number | undefined;
  /** Its capacity relative to other hosts. From 1e-6 to 1e12. Default: 1. */
  readonly capacity?: number | undefined;
  /** Whether sandboxes may start on it: `false` for a host that drains or is unhealthy. Default: `true`. */
  readonly available?: boolean | undefined;
}

/** A host with all its properties. */
export type CompleteHost = { readonly [Name in keyof Host]-?: Exclude<Host[Name], undefined> };

/** The maximum number of hosts of a fleet. */
export const MAX_HOSTS = 65_536;

const MAX_LOAD = 1e12;
const MIN_CAPACITY = 1e-6;

/**
 * The hosts of a fleet, prepared for fast decisions: keep it, and change hosts as they change.
 *
 * @example
 * const hosts = new Hosts([{ id: "a" }, { id: "b", capacity: 2 }]);
 * const { host } = placement(digest, hosts);
 * hosts.addLoad(host, 1);
 */
export class Hosts {
  readonly #indexes = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #available: boolean[] = [];
  #hashes = new Uint32Array(16);
  #loads = new Float64Array(16);
  /** In the same order; 0 for a host that is not available. */
  #usable = new Float64Array(16);
  #capacities = new Float64Array(16);

  /** @throws {FleetError} `ERR_ARGUMENT` for an invalid or duplicate host, or for more than 65,536 hosts */
  constructor(hosts: Iterable<Host> = []) {
    if (typeof hosts?.[Symbol.iterator] !== "function") {
      throw invalid("hosts", "an iterable of hosts", typeof hosts);
    }
    for (const host of hosts) {
      if (this.has(host?.id)) throw invalid("hosts", "each host once", `${host.id} twice`);
      this.set(host);
    }
  }

  /** The number of hosts, including those that are not available. */
  get size(): number {
    return this.#ids.length;
  }

  /** Returns whether there is a host of this ID. */
  has(id: string): boolean {
    return this.#indexes.has(id);
  }

  /** Returns a host, or `undefined` if there is none of this ID. */
  get(id: string): CompleteHost | undefined {
    const index = this.#indexes.get(id);
    if (index === undefined) return undefined;
    return {
      id,
      load: this.#loads[index]!,
      capacity: this.#capacities[index]!,
      available: this.#available[index]!,
    };
  }

  /** Adds a host, or replaces the one of the same ID. @throws {FleetError} `ERR_ARGUMENT` */
  set(host: Host): void {
    if (typeof host !== "object" || host === null) {
      throw invalid("host", "an object", host === null ? "null" : typeof host);
    }
    const { id, load = 0, capacity = 1, available = true } = host;
    checkId("host.id", id);
    checkNumber(`load of ${id}`, load, 0, MAX_LOAD);
    checkNumber(`capacity of ${id}`, capacity, MIN_CAPACITY, MAX_LOAD);
    if (typeof available !== "boolean") {
      throw invalid(`available of ${id}`, "true or false", typeof available);
    }
    const index = this.#indexes.get(id) ?? this.#add(id);
    this.#loads[index] = load;
    this.#capacities[index] = capacity;
    this.#available[index] = available;
    this.#usable[index] = available ? capacity : 0;
  }

  /**
   * Changes the load of a host by a positive or negative number; it never falls below 0. Returns whether there is a
   * host of this ID.
   *
   * @throws {FleetError} `ERR_ARGUMENT`
   */
  addLoad(id: string, load: number): boolean {
    checkNumber("load", load, -MAX_LOAD, MAX_LOAD);
    const index = this.#indexes.get(id);
    if (index === undefined) return false;
    this.#loads[index] = Math.min(MAX_LOAD, Math.max(0, this.#loads[index]! + load));
    return true;
  }

  /** Removes a host. Returns whether there was one of this ID. */
  delete(id: string): boolean {
    const index = this.#indexes.get(id);
    if (index === undefined) return false;
    const last = this.#ids.length - 1;
    const moved = this.#ids[last]!;
    this.#ids[index] = moved;
    this.#available[index] = this.#available[last]!;
    for (const values of [this.#hashes, this.#loads, this.#capacities, this.#usable]) {
      values[index] = values[last]!;
    }
    this.#indexes.set(moved, index);
    this.#indexes.delete(id);
    this.#ids.pop();
    this.#available.pop();
    return true;
  }

  /** The IDs of all hosts, including those that are not available. */
  ids(): IterableIterator<string> {
    return this.#indexes.keys();
  }

  /** @internal */
  columns(): HostColumns {
    return {
      count: this.#ids.length,
      ids: this.#ids,
      indexes: this.#indexes,
      hashes: this.#hashes,
      loads: this.#loads,
      capacities: this.#usable,
    };
  }

  #add(id: string): number {
    const index = this.#ids.length;
    if (index === MAX_HOSTS) throw invalid("hosts", `at most ${MAX_HOSTS} hosts`, "more");
    if (index === this.#hashes.length) this.#grow();
    this.#ids.push(id);
    this.#indexes.set(id, index);
    this.#hashes[index] = hashText(id);
    return index;
  }

  #grow(): void {
    const length = 2 * this.#hashes.length;
    const hashes = new Uint32Array(length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#loads = longer(this.#loads, length);
    this.#usable = longer(this.#usable, length);
    this.#capacities = longer(this.#capacities, length);
  }
}

/** The hosts as columns, for the inner loop of a decision. */
export interface HostColumns {
  /** The number of rows that are in use. */
  readonly count: number;
  readonly ids: readonly string[];
  readonly indexes: ReadonlyMap<string, number>;
  readonly hashes: Uint32Array;
  readonly loads: Float64Array;
  /** 0 for a host that is not available. */
  readonly capacities: Float64Array;
}

function longer(values: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(length);
  copy.set(values);
  return copy;
}
