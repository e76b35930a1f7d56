import { checkedOptions, checkId, checkNoOthers, checkNumber, invalid } from "../check.js";
import { Decision, type DecisionOptions } from "./decision.js";
import { type Host, Hosts } from "./hosts.js";
import { hashText } from "./rendezvous.js";

/** Options of `placement`. */
export interface PlacementOptions {
  /**
   * The IDs of the hosts that have the image, as from `Residency.hostsOf`. If some of them no longer have it, the start
   * is a miss. Default: none.
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
  /** No host that has the image is below the bound; it is one of those that the image prefers. */
  | "preferred"
  /** All of these are at the bound; it is the nearest host below it. */
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
 * @param identity the digest of the snapshot; for a delta, that of its base, which is most of what must be present
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
