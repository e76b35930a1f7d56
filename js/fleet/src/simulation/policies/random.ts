import type { MakePolicy } from "../policy.js";
import { randomHost } from "./random-host.js";

/** Any host. */
export const random: MakePolicy = ({ hosts, random: numbers }) => {
  const { count, capacities } = hosts.columns();
  return { place: () => randomHost(numbers, count, capacities) };
};
