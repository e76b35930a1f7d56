import type { Hosts } from "../placement/hosts.js";
import type { Random } from "./random.js";
import type { WorkloadImage } from "./workload.js";

/** The state of the fleet that a policy may read. */
export interface Fleet {
  /** All hosts, with their running sandboxes as load. Rows of its columns never move. */
  readonly hosts: Hosts;
  readonly images: readonly WorkloadImage[];
  /** The number of sandboxes for which a host is made. */
  readonly slots: number;
  /** The hosts that reported an image: what they hold some time ago. */
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

/** Makes a policy for a fleet. */
export type MakePolicy = (fleet: Fleet) => Policy;

/** Instead of the row of a host: there is none. */
export const NONE = -1;
