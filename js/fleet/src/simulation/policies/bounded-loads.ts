import { hashText } from "../../placement/rendezvous.js";
import type { MakePolicy } from "../policy.js";
import { Ring } from "./ring.js";

/** The maximum load of a host, as a multiple of the mean: as in `placement`. */
const BOUND = 1.25;

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016): the next host on a ring that is
 * below 1.25 × the mean, rounded up. The same as `hash-balance-factor 125` of HAProxy.
 */
export const boundedLoads: MakePolicy = ({ hosts, images }) => {
  const columns = hosts.columns();
  const ring = new Ring(columns);
  return {
    place(image) {
      const { count, loads, capacities } = columns;
      let [available, load] = [0, 1];
      for (let row = 0; row < count; row += 1) {
        if (capacities[row] === 0) continue;
        available += 1;
        load += loads[row]!;
      }
      const limit = Math.ceil((BOUND * load) / available);
      const accepts = (row: number) => capacities[row] !== 0 && loads[row]! + 1 <= limit;
      return ring.find(hashText(images[image]!.identity), accepts);
    },
  };
};
