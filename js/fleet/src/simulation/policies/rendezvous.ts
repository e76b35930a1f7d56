import { hashText, uniform } from "../../placement/rendezvous.js";
import { type MakePolicy, NONE } from "../policy.js";

/** Rendezvous hashing: the nearest host of an image, whatever its load. */
export const rendezvous: MakePolicy = ({ hosts, images }) => {
  const { count, hashes, capacities } = hosts.columns();
  return {
    place(image) {
      const hash = hashText(images[image]!.identity);
      let [best, most] = [NONE, 0];
      for (let row = 0; row < count; row += 1) {
        if (capacities[row] === 0) continue;
        const chance = uniform(hash, hashes[row]!);
        if (chance > most) [best, most] = [row, chance];
      }
      return best;
    },
  };
};
