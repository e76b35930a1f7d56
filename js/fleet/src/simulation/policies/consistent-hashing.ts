import { hashText } from "../../placement/rendezvous.js";
import type { MakePolicy } from "../policy.js";
import { Ring } from "./ring.js";

/** Consistent hashing: the next host on a ring, whatever its load. */
export const consistentHashing: MakePolicy = ({ hosts, images }) => {
  const columns = hosts.columns();
  const ring = new Ring(columns);
  const isAvailable = (row: number) => columns.capacities[row] !== 0;
  return { place: (image) => ring.find(hashText(images[image]!.identity), isAvailable) };
};
