import { checkedOptions, checkId, checkNoOthers, checkNumber, invalid } from "../check.js";
import { FleetError } from "../error.js";
import { type Host, type HostColumns, Hosts } from "./hosts.js";
import { distanceOf, hashText, uniform } from "./rendezvous.js";

/** Options of `placement`. */
export interface PlacementOptions {
  /**
   * The IDs of the hosts that have the image, as from `Residency.hostsOf`. If the chosen host no longer has it, the
   * start is a miss. Default: none.
   */
  readonly residents?: ReadonlySet<string> | undefined;
  /**
   * The maximum load of a host, as a multiple of the mean, in proportion to its capacity. From 1 to 1,000. Default: 1.25.
   */
  readonly bound?: number | undefined;
  /** The load that the sandbox adds to its host. From 0 to 1e12. Default: 1. */
  readonly load?: number | undefined;
  /**
   * The share of this image in all starts, as from `RequestShares`: a popular image gets more preferred hosts. From 0
   * to 1. Default: 0.
   */
  readonly share?: number | undefined;
}

/** Why a host was chosen. */
export type PlacementReason =
  /** It has the image. */
  | "resident"
  /** No host that has the image is below the bound. The host is one that the image prefers. */
  | "preferred"
  /** All of these are at the bound. The host is the nearest one below it. */
  | "overflow";

/** A host that was considered. */
export interface PlacementCandidate {
  /** The ID of the host. */
  readonly host: string;
  /** Its distance from the image: the smaller, the earlier it is preferred. */
  readonly distance: number;
  /** Its load, with this sandbox, as a multiple of the mean, in proportion to its capacity. */
  readonly relativeLoad: number;
  /** Whether it has the image. */
  readonly isResident: boolean;
  /** Whether its load, with this sandbox, is within the bound. */
  readonly isWithinBound: boolean;
}

/** A decision where a sandbox starts. */
export interface Placement {
  /** The ID of the host. */
  readonly host: string;
  /** Why it was chosen. */
  readonly reason: PlacementReason;
  /** The two nearest hosts, and the one chosen, the nearest first. */
  readonly candidates: readonly PlacementCandidate[];
}

/**
 * Decides where a sandbox starts: on a host that has its image, and below the bound on its load.
 *
 * The image prefers a few hosts, by weighted rendezvous hashing. The least loaded of those that also have it is chosen;
 * if there is none below the bound, the least loaded host that has the image; then the least loaded preferred host; then
 * the nearest host below the bound. One host is always below it.
 *
 * A pure function: it reads no clock and does no I/O, and the same input gives the same host.
 *
 * @param identity the digest of the snapshot; for a delta, the digest of its base, which has most of the data
 * @param hosts pass `Hosts` for many decisions
 * @throws {FleetError} `ERR_NO_HOST` if no host is available, `ERR_ARGUMENT`
 * @example
 * const { host, reason } = placement(digest, [{ id: "a", load: 3 }, { id: "b", load: 1 }]);
 */
export function placement(
  identity: string,
  hosts: Hosts | Iterable<Host>,
  options: PlacementOptions = {},
): Placement {
  checkId("identity", identity);
  const checked = decisionOptions(options);
  if (hosts === undefined) throw invalid("hosts", "an iterable of hosts", "undefined");
  const columns = (hosts instanceof Hosts ? hosts : new Hosts(hosts)).columns();
  const decision = new Decision(columns, hashText(identity), checked);
  const [row, reason] = decision.choose();
  return { host: columns.ids[row]!, reason, candidates: decision.candidates(row) };
}

/** The parameters of a decision, checked. */
interface DecisionOptions {
  readonly residents: ReadonlySet<string>;
  readonly bound: number;
  readonly load: number;
  readonly share: number;
}

const NO_RESIDENTS: ReadonlySet<string> = new Set();

/** @throws {FleetError} `ERR_ARGUMENT` */
function decisionOptions(options: PlacementOptions): DecisionOptions {
  const {
    residents = NO_RESIDENTS,
    bound = 1.25,
    load = 1,
    share = 0,
    ...others
  } = checkedOptions(options);
  checkNoOthers(others);
  if (!(residents instanceof Set)) throw invalid("residents", "a Set", typeof residents);
  checkNumber("bound", bound, 1, 1_000);
  checkNumber("load", load, 0, 1e12);
  checkNumber("share", share, 0, 1);
  return { residents, bound, load, share };
}

/** The number of preferred hosts of an image, in proportion to its share of the starts: about twice what it needs. */
const SPREAD = 2;

/** Added to bounds, so that rounding never excludes all hosts. */
const ROUNDING = 1e-9;

/** Sentinel for "no row". */
const NONE = -1;

/** Where one sandbox starts. Hosts are rows of the columns. */
class Decision {
  readonly #hosts: HostColumns;
  readonly #image: number;
  readonly #residents: ReadonlySet<string>;
  readonly #load: number;
  /** The mean load of the fleet for a capacity of 1, without and with the sandbox. */
  readonly #meanBefore: number;
  readonly #mean: number;
  /** The maximum load for a capacity of 1, unless a host is below the mean without the sandbox. */
  readonly #bound: number;
  /** Hosts that are closer are preferred, besides the two nearest. */
  readonly #radius: number;
  /** The two nearest hosts, and the nearest of those within the bound. */
  #first = NONE;
  #second = NONE;
  #nearest = NONE;
  /** The least loaded preferred host within the bound, and the least loaded one that also has the image. */
  #preferred = NONE;
  #preferredResident = NONE;

  /** @throws {FleetError} `ERR_NO_HOST` */
  constructor(hosts: HostColumns, image: number, options: DecisionOptions) {
    this.#hosts = hosts;
    this.#image = image;
    this.#residents = options.residents;
    this.#load = options.load;
    const { count, loads, capacities } = hosts;
    let available = 0;
    let load = 0;
    let capacity = 0;
    for (let row = 0; row < count; row += 1) {
      if (capacities[row] === 0) continue;
      available += 1;
      load += loads[row]!;
      capacity += capacities[row]!;
    }
    if (available === 0) throw new FleetError("ERR_NO_HOST", noHost(count));
    this.#meanBefore = load / capacity;
    this.#mean = (load + options.load) / capacity;
    this.#bound = options.bound * this.#mean;
    // A host of capacity c is closer than r with a probability of about r · c.
    this.#radius = (SPREAD * options.share * available) / capacity;
    this.#search();
  }

  /** Chooses a host. */
  choose(): readonly [row: number, reason: PlacementReason] {
    for (const row of [this.#first, this.#second]) {
      if (row !== NONE && this.#isWithinBound(row)) this.#consider(row);
    }
    if (this.#preferredResident !== NONE) return [this.#preferredResident, "resident"];
    const resident = this.#leastLoadedResident();
    if (resident !== NONE) return [resident, "resident"];
    if (this.#preferred !== NONE) return [this.#preferred, "preferred"];
    return [this.#nearest, "overflow"];
  }

  /** Describes the two nearest hosts and the chosen one, the nearest first. */
  candidates(chosen: number): PlacementCandidate[] {
    const rows = [this.#first];
    if (this.#second !== NONE) rows.push(this.#second);
    if (!rows.includes(chosen)) rows.push(chosen);
    return rows.map((row) => ({
      host: this.#hosts.ids[row]!,
      distance: this.#distanceOf(row),
      relativeLoad: this.#mean === 0 ? 0 : this.#loadAfter(row) / this.#mean,
      isResident: this.#residents.has(this.#hosts.ids[row]!),
      isWithinBound: this.#isWithinBound(row),
    }));
  }

  /** Finds the nearest hosts, and considers those within the radius, in one pass. */
  #search(): void {
    const { count, hashes, capacities } = this.#hosts;
    let firstAt = Infinity;
    let secondAt = Infinity;
    let nearestAt = Infinity;
    for (let row = 0; row < count; row += 1) {
      const capacity = capacities[row]!;
      if (capacity === 0) continue;
      const chance = uniform(this.#image, hashes[row]!);
      // Logarithms take most of the time: 1 - u is below -ln u.
      const atLeast = (1 - chance) / capacity;
      if (atLeast > secondAt && atLeast > nearestAt && atLeast > this.#radius) continue;
      const distance = distanceOf(chance, capacity);
      const isWithin = this.#isWithinBound(row);
      if (isWithin && distance < this.#radius) this.#consider(row);
      if (isWithin && this.#isNearer(row, distance, this.#nearest, nearestAt)) {
        [this.#nearest, nearestAt] = [row, distance];
      }
      if (this.#isNearer(row, distance, this.#first, firstAt)) {
        [this.#second, secondAt] = [this.#first, firstAt];
        [this.#first, firstAt] = [row, distance];
      } else if (this.#isNearer(row, distance, this.#second, secondAt)) {
        [this.#second, secondAt] = [row, distance];
      }
    }
  }

  /** Takes a preferred host within the bound into account. */
  #consider(row: number): void {
    if (this.#isBetter(row, this.#preferred)) this.#preferred = row;
    if (!this.#isBetter(row, this.#preferredResident)) return;
    if (this.#residents.has(this.#hosts.ids[row]!)) this.#preferredResident = row;
  }

  /** Returns the least loaded host that has the image and is within the bound, or `NONE`. */
  #leastLoadedResident(): number {
    const { indexes, capacities } = this.#hosts;
    let best = NONE;
    for (const id of this.#residents) {
      const row = indexes.get(id);
      if (row === undefined || capacities[row] === 0 || !this.#isWithinBound(row)) continue;
      if (this.#isBetter(row, best)) best = row;
    }
    return best;
  }

  #isWithinBound(row: number): boolean {
    const capacity = this.#hosts.capacities[row]!;
    const limit = Math.max(this.#bound * capacity, this.#meanBefore * capacity + this.#load);
    return this.#hosts.loads[row]! + this.#load <= limit * (1 + ROUNDING) + ROUNDING;
  }

  /** Returns whether a host has less load than another one, or the same and is nearer. */
  #isBetter(row: number, other: number): boolean {
    if (row === other) return false;
    if (other === NONE) return true;
    const one = this.#loadAfter(row);
    const two = this.#loadAfter(other);
    if (one !== two) return one < two;
    return this.#isNearer(row, this.#distanceOf(row), other, this.#distanceOf(other));
  }

  /** Returns whether a host is nearer than another one. At the same distance, IDs decide, and not the order of hosts. */
  #isNearer(row: number, distance: number, other: number, otherDistance: number): boolean {
    if (distance !== otherDistance || other === NONE) return distance < otherDistance;
    return this.#hosts.ids[row]! < this.#hosts.ids[other]!;
  }

  /** Returns the load of a host with the sandbox, for a capacity of 1. */
  #loadAfter(row: number): number {
    return (this.#hosts.loads[row]! + this.#load) / this.#hosts.capacities[row]!;
  }

  #distanceOf(row: number): number {
    const chance = uniform(this.#image, this.#hosts.hashes[row]!);
    return distanceOf(chance, this.#hosts.capacities[row]!);
  }
}

function noHost(count: number): string {
  return count === 0 ? "the fleet has no hosts" : `none of the ${count} hosts is available`;
}
