import { type MakePolicy, NONE } from "../policy.js";

/** The host with the fewest running sandboxes; of several, the first one after a random host. */
export const leastLoaded: MakePolicy = ({ hosts, random }) => {
  const { count, loads, capacities } = hosts.columns();
  return {
    place() {
      const first = random.below(count);
      let best = NONE;
      for (let step = 0; step < count; step += 1) {
        const row = first + step < count ? first + step : first + step - count;
        if (capacities[row] === 0) continue;
        if (best === NONE || loads[row]! < loads[best]!) best = row;
      }
      return best;
    },
  };
};
