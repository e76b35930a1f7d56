import type { MakePolicy } from "../policy.js";
import { randomHost } from "./random-host.js";

/** The less loaded of two random hosts: Mitzenmacher, "The power of two choices in randomized load balancing" (2001). */
export const twoChoices: MakePolicy = ({ hosts, random }) => {
  const { count, loads, capacities } = hosts.columns();
  return {
    place() {
      const one = randomHost(random, count, capacities);
      const other = randomHost(random, count, capacities);
      return loads[other]! < loads[one]! ? other : one;
    },
  };
};
