/** Ways to place sandboxes: `placement` of `@hedgerow/fleet`, and those that it is compared with. */
import type { Hosts } from "../../../../js/fleet/dist/placement/hosts.js";
import { placement } from "../../../../js/fleet/dist/placement/placement.js";
import { hashText, uniform } from "../../../../js/fleet/dist/placement/rendezvous.js";
import { RequestShares } from "../../../../js/fleet/dist/placement/request-shares.js";
import type { Random } from "./random.ts";
import type { WorkloadImage } from "./workloads.ts";

/** The state of the fleet that a policy may read. */
export interface Fleet {
  /** All hosts, with their running sandboxes as load. Rows of its columns never move. */
  readonly hosts: Hosts;
  readonly images: readonly WorkloadImage[];
  /** The number of sandboxes for which a host is made. */
  readonly slots: number;
  /** The hosts that reported an image: what they held some time ago. */
  residentsOf(image: number): ReadonlySet<string>;
  readonly random: Random;
}

/** A way to choose hosts. */
export interface Policy {
  /**
   * Returns the row of the host for a start. The same state of the fleet, of its random generator and of the counted
   * starts gives the same host.
   */
  place(image: number, now: number): number;
  /** Counts a start. */
  count?(image: number, now: number): void;
}

type Columns = ReturnType<Hosts["columns"]>;

/** Instead of the row of a host. */
const NONE = -1;

/** Makers of policies, by name, in the order of tables. */
export const POLICIES = {
  random: anyHost,
  "least loaded": leastLoaded,
  "best of two": bestOfTwo,
  "consistent hashing": consistentHashing,
  "bounded loads": boundedLoads,
  rendezvous,
  ImageLocality: imageLocality,
  hedgerow: (fleet: Fleet) => hedgerow(fleet, 1.25),
  // As even as policies that place by load, to compare their hits.
  "hedgerow, bound 1.05": (fleet: Fleet) => hedgerow(fleet, 1.05),
};

/** The name of a policy. */
export type PolicyName = keyof typeof POLICIES;

/** `placement` with residency and `RequestShares`. */
function hedgerow({ hosts, images, residentsOf }: Fleet, bound: number): Policy {
  const { indexes } = hosts.columns();
  const shares = new RequestShares();
  return {
    place(image, now) {
      const { identity } = images[image]!;
      const options = { residents: residentsOf(image), share: shares.of(identity, now), bound };
      return indexes.get(placement(identity, hosts, options).host)!;
    },
    count(image, now) {
      shares.add(images[image]!.identity, now);
    },
  };
}

function anyHost({ hosts, random }: Fleet): Policy {
  const columns = hosts.columns();
  return { place: () => randomHost(random, columns) };
}

/** The host with the fewest running sandboxes; of several, the first one after a random host. */
function leastLoaded({ hosts, random }: Fleet): Policy {
  const columns = hosts.columns();
  return { place: () => leastLoadedFrom(random.below(columns.count), columns) };
}

/** The less loaded of two random hosts: Mitzenmacher, "The power of two choices in randomized load balancing" (2001). */
function bestOfTwo({ hosts, random }: Fleet): Policy {
  const columns = hosts.columns();
  const { loads } = columns;
  return {
    place() {
      const one = randomHost(random, columns);
      const other = randomHost(random, columns);
      return loads[other]! < loads[one]! ? other : one;
    },
  };
}

/** Consistent hashing: the next host on a ring, whatever its load. */
function consistentHashing({ hosts, images }: Fleet): Policy {
  const columns = hosts.columns();
  const find = ringOf(columns);
  return { place: (image) => find(images[image]!.identity, Infinity) };
}

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016): the next host on a ring that is
 * below 1.25 × the mean, rounded up. The same as `hash-balance-factor 125` of HAProxy.
 */
function boundedLoads({ hosts, images }: Fleet): Policy {
  const columns = hosts.columns();
  const { count, loads, capacities } = columns;
  const find = ringOf(columns);
  return {
    place(image) {
      let load = 1;
      for (let row = 0; row < count; row += 1) if (capacities[row] !== 0) load += loads[row]!;
      return find(images[image]!.identity, Math.ceil((1.25 * load) / availableOf(columns)));
    },
  };
}

/** Rendezvous hashing: the nearest host of an image, whatever its load. */
function rendezvous({ hosts, images }: Fleet): Policy {
  const { count, hashes, capacities } = hosts.columns();
  return {
    place(image) {
      const hash = hashText(images[image]!.identity);
      let best = NONE;
      let most = 0;
      for (let row = 0; row < count; row += 1) {
        if (capacities[row] === 0) continue;
        const chance = uniform(hash, hashes[row]!);
        if (chance > most) [best, most] = [row, chance];
      }
      return best;
    },
  };
}

/**
 * The default scheduler of Kubernetes: the sum of its scores LeastAllocated and ImageLocality, each with weight 1, and a
 * random host of several with the same score. Of a fleet of 100 hosts or more it scores a sample.
 *
 * All sandboxes request the same share of each resource, so its score BalancedAllocation is the same for all hosts. Its
 * other scores need rules of the pod. A kubelet reports at most 50 images, and later than hosts do here; neither is
 * simulated. Pods for which no host has space wait; here they start on the least loaded host.
 */
function imageLocality({ hosts, images, slots, random, residentsOf }: Fleet): Policy {
  const columns = hosts.columns();
  const { count, indexes, loads, capacities } = columns;
  const isResident = new Uint8Array(count);
  const leastAllocated = (row: number) =>
    Math.max(0, Math.floor(((slots - loads[row]! - 1) * 100) / slots));

  return {
    place(image) {
      const residents = residentsOf(image);
      const available = availableOf(columns);
      const locality = localityOf(images[image]!.bytes, residents.size / available);
      for (const id of residents) isResident[indexes.get(id)!] = 1;
      const first = random.below(count);
      let best = NONE;
      let most = -1;
      let same = 0;
      let left = sampleOf(available);
      for (let step = 0; step < count && left > 0; step += 1) {
        const row = (first + step) % count;
        if (capacities[row] === 0 || loads[row]! >= slots) continue;
        left -= 1;
        const score = leastAllocated(row) + (isResident[row] === 1 ? locality : 0);
        if (score < most) continue;
        same = score === most ? same + 1 : 1;
        if (same > 1 && random.below(same) > 0) continue;
        [best, most] = [row, score];
      }
      for (const id of residents) isResident[indexes.get(id)!] = 0;
      return best === NONE ? leastLoadedFrom(0, columns) : best;
    },
  };
}

/** Returns the score of a host that has an image, up to 100, from the share of hosts that have it. */
function localityOf(bytes: number, spread: number): number {
  const min = 23 * 2 ** 20;
  const max = 1_000 * 2 ** 20;
  const scaled = Math.min(max, Math.max(min, Math.floor(bytes * spread)));
  return Math.floor((100 * (scaled - min)) / (max - min));
}

/** Returns how many of the hosts that have space Kubernetes scores by default. */
function sampleOf(available: number): number {
  if (available < 100) return available;
  const percentage = Math.max(5, 50 - Math.floor(available / 125));
  return Math.max(100, Math.floor((available * percentage) / 100));
}

function availableOf({ count, capacities }: Columns): number {
  let available = 0;
  for (let row = 0; row < count; row += 1) if (capacities[row] !== 0) available += 1;
  return available;
}

/** Returns the row of any available host. */
function randomHost(random: Random, { count, capacities }: Columns): number {
  for (;;) {
    const row = random.below(count);
    if (capacities[row] !== 0) return row;
  }
}

function leastLoadedFrom(first: number, { count, loads, capacities }: Columns): number {
  let best = NONE;
  for (let step = 0; step < count; step += 1) {
    const row = (first + step) % count;
    if (capacities[row] === 0) continue;
    if (best === NONE || loads[row]! < loads[best]!) best = row;
  }
  return best;
}

/**
 * Makes a ring of consistent hashing (Karger et al., 1997), on which each host has 160 points.
 *
 * @returns a function that finds the first available host after a text whose load stays within a limit
 */
function ringOf({ count, ids, loads, capacities }: Columns) {
  const points = ids.slice(0, count).flatMap((id, row) => {
    return Array.from({ length: 160 }, (_, point) => ({ hash: hashText(`${id}#${point}`), row }));
  });
  points.sort((one, other) => one.hash - other.hash);

  return (text: string, limit: number): number => {
    const hash = hashText(text);
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle]!.hash < hash) low = middle + 1;
      else high = middle;
    }
    for (let step = 0; step < points.length; step += 1) {
      const { row } = points[(low + step) % points.length]!;
      if (capacities[row] !== 0 && loads[row]! + 1 <= limit) return row;
    }
    return NONE;
  };
}
