// Turns a placement into the scores of a scheduler extender, from 0 to 10.
import { placement } from "@hedgerow/fleet";

/** Of the node that `placement` chooses: MaxExtenderPriority. */
const CHOSEN = 10;

/** Of other nodes that have the image and are below the bound. */
const RESIDENT = 6;

/** The maximum load of a node, as a multiple of the mean. */
const BOUND = 1.25;

/**
 * Returns a HostPriorityList. All scores are equal if nothing is known: the engine is away, no agent runs on any of the
 * nodes, or the pod needs no image.
 *
 * @param {readonly string[]} names of the nodes that fit the pod
 * @param {string | undefined} digest of the image
 * @param {Pick<import("@hedgerow/fleet").Residency, "isCurrent" | "hosts" | "hostsOf">} residency
 * @param {number} share of the image in recent starts
 */
export function scoresOf(names, digest, residency, share) {
  const scores = new Map(names.map((name) => [name, 0]));
  if (digest !== undefined && residency.isCurrent) {
    const hosts = residency.hosts().filter(({ id, available }) => available && scores.has(id));
    if (hosts.length > 0) {
      const residents = residency.hostsOf(digest);
      const { host } = placement(digest, hosts, { residents, share, bound: BOUND });
      const isWithinBound = boundOf(hosts);
      for (const each of hosts) {
        if (residents.has(each.id) && isWithinBound(each)) scores.set(each.id, RESIDENT);
      }
      scores.set(host, CHOSEN);
    }
  }
  return Array.from(scores, ([Host, Score]) => ({ Host, Score }));
}

/** @typedef {{ load: number, capacity: number }} Loaded */

/**
 * Returns a function that tells whether one more sandbox keeps a node within the bound. One below the mean always does.
 *
 * @param {readonly Loaded[]} hosts
 */
function boundOf(hosts) {
  let [load, capacity] = [0, 0];
  for (const each of hosts) [load, capacity] = [load + each.load, capacity + each.capacity];
  const bound = (BOUND * (load + 1)) / capacity;
  const mean = load / capacity;
  return (/** @type {Loaded} */ each) =>
    each.load <= mean * each.capacity || each.load + 1 <= bound * each.capacity;
}
