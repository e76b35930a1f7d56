import { type MakePolicy, NONE } from "../policy.js";

const MIB = 2 ** 20;

/** Images below the first size get no score, and those above the second one get the whole. */
const [MIN, MAX] = [23 * MIB, 1000 * MIB];

/** The maximum of each score. */
const MAX_SCORE = 100;

/**
 * The default scheduler of Kubernetes: the sum of its scores LeastAllocated and ImageLocality, each with weight 1, and a
 * random host of several with the same score. Of a fleet of 100 hosts or more it scores a sample.
 *
 * All sandboxes request the same share of each resource, so its score BalancedAllocation is the same for all hosts. Its
 * other scores need rules of the pod. A kubelet reports at most 50 images, and later than hosts do here; neither is
 * simulated.
 */
export const imageLocality: MakePolicy = ({ hosts, images, slots, random, residentsOf }) => {
  const { count, indexes, loads, capacities } = hosts.columns();
  const isResident = new Uint8Array(count);
  const leastAllocated = (row: number) =>
    Math.max(0, Math.floor(((slots - loads[row]! - 1) * MAX_SCORE) / slots));

  return {
    place(image) {
      const residents = residentsOf(image);
      const available = availableOf(count, capacities);
      const locality = localityOf(images[image]!.bytes, residents.size / available);
      for (const id of residents) isResident[indexes.get(id)!] = 1;
      const first = random.below(count);
      let [best, most, same, left] = [NONE, -1, 0, sampleOf(available)];
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
      return best === NONE ? leastLoadedOf(count, loads, capacities) : best;
    },
  };
};

/** Returns the score of a host that has an image, from the share of hosts that have it. */
function localityOf(bytes: number, spread: number): number {
  const scaled = Math.min(MAX, Math.max(MIN, Math.floor(bytes * spread)));
  return Math.floor((MAX_SCORE * (scaled - MIN)) / (MAX - MIN));
}

/** Returns how many of the hosts that have space are scored, by default. */
function sampleOf(available: number): number {
  if (available < 100) return available;
  const percentage = Math.max(5, 50 - Math.floor(available / 125));
  return Math.max(100, Math.floor((available * percentage) / 100));
}

function availableOf(count: number, capacities: Float64Array): number {
  let available = 0;
  for (let row = 0; row < count; row += 1) if (capacities[row] !== 0) available += 1;
  return available;
}

/** Pods for which no host has space wait; here they start on the least loaded host. */
function leastLoadedOf(count: number, loads: Float64Array, capacities: Float64Array): number {
  let best = NONE;
  for (let row = 0; row < count; row += 1) {
    if (capacities[row] === 0) continue;
    if (best === NONE || loads[row]! < loads[best]!) best = row;
  }
  return best;
}
