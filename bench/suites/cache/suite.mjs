// The image cache: hits, copies and hit rates.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory, onDisk, ownMounts } from "../../harness/temporary.mjs";

export const PLAN = {
  /** Of images, in bytes, each with at least this share of files. */
  sizes: [2 ** 26, 2 ** 28, 2 ** 30, 2 ** 32, 2 ** 33],
  dataShare: 1 / 4,
  hits: 200,
  /** The maximum of bytes that are hashed. */
  hashed: 2 ** 40,
  /** Rounds of first hits, each in a process of its own. */
  processes: 11,
  copies: 5,
  /** Requests for images whose sizes in bytes lie between two bounds. */
  traces: {
    images: 256,
    smallest: 2 ** 17,
    largest: 2 ** 22,
    requests: 5000,
    /** Of Zipf's law. */
    exponents: [0.8, 1, 1.2],
    /** The images with most requests, and their share. */
    base: { images: 8, share: 0.97 },
    /** Capacities of the cache, as shares of all bytes. */
    shares: [0.05, 0.1, 0.25, 0.5],
  },
};

/** @typedef {typeof PLAN} Plan */
/** @typedef {Plan["traces"]} TracePlan */

/** The same images with less data, and traces of smaller images. @type {Plan} */
export const QUICK = {
  ...PLAN,
  dataShare: 1 / 64,
  hits: 10,
  hashed: 2 ** 28,
  processes: 1,
  copies: 1,
  traces: { ...PLAN.traces, smallest: 2 ** 12, largest: 2 ** 17, requests: 250 },
};

/** A limit under which nothing is evicted. */
export const NO_EVICTION = 2 ** 40;

export const prepare = () => installPrograms("cache");

/**
 * Two folders, of which one is in memory, so that no disk slows traces down, and the plan.
 *
 * @typedef {{ disk: string, memory: string, plan: Plan }} Parameters
 */

/** @param {Plan} plan */
export function measure(plan) {
  const description = `images on a disk, Node ${process.versions.node}`;
  const command = [...ownMounts(), process.execPath];
  return onDisk((disk) =>
    inMemory((memory) => runScript("cache", description, command, "run", { disk, memory, plan })),
  );
}
