// The image, the link to the store, and the numbers of rounds.

export const PLAN = {
  imageBytes: 4 * 2 ** 30,
  dataBytes: Math.round(0.28 * 4 * 2 ** 30),
  /** The share of the data that is written before a save, in clusters. */
  share: 0.01,
  /** Rounds of methods that take less than a second, and of others. */
  fastRounds: 11,
  rounds: 3,
  /** Disks that are forked and attached at once. */
  forks: 32,
  /** Disks of the collection, their generations, and snapshots that nothing refers to. */
  disks: 1_000,
  generations: 98,
  unreferenced: 2_000,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  ...PLAN,
  imageBytes: 2 ** 29,
  dataBytes: 50e6,
  ...{ fastRounds: 1, rounds: 1, forks: 4, disks: 10, generations: 10, unreferenced: 20 },
};

/** Milliseconds to the first byte of a response, and bytes per second of each connection. */
export const [LATENCY, RATE] = [30, 90e6];

/** Space for the disk of the benchmark, in bytes: of a sparse file. */
export const XFS_BYTES = 40 * 2 ** 30;

/** A limit under which nothing is evicted. */
export const NO_EVICTION = 2 ** 40;
