// The image, the networks, the settings and the number of rounds.

/**
 * @typedef {object} Plan
 * @property {number} imageBytes of the image of the comparisons
 * @property {number} dataBytes minimum of the files in it
 * @property {number} rounds measured
 * @property {number} warmUps rounds before those
 * @property {number} probes restores in which the connections of Hedgerow are counted
 */

/** @type {Plan} */
export const PLAN = {
  imageBytes: 2 ** 32,
  dataBytes: 1.45e9,
  rounds: 3,
  warmUps: 1,
  probes: 3,
};

/** @type {Plan} */
export const QUICK = { imageBytes: 2 ** 29, dataBytes: 0.06e9, rounds: 1, warmUps: 0, probes: 1 };

/** Images of other sizes, with as much data in proportion. */
export const SIZES = [
  { name: "a quarter of the size", factor: 1 / 4 },
  { name: "half the size", factor: 1 / 2 },
  { name: "twice the size", factor: 2 },
];

/** An image with the same data and more holes. */
export const SPARSE = { name: "4 times the size, the same data", factor: 4 };

/**
 * A network: the rate of a connection in bytes a second, milliseconds to the first byte of a response, and the share of
 * responses whose connection is cut within the body.
 *
 * @typedef {{ name: string, bytesPerSecond?: number, firstByte?: number, cutShare?: number }} Network
 */

/** @type {Network} */
export const LOOPBACK = { name: "loopback" };

/** @type {Network} */
export const FAST = { name: "90 MB/s, 30 ms", bytesPerSecond: 90e6, firstByte: 30 };

/** @type {Network} */
export const CUT = {
  name: "50 MB/s, 30 ms, 1 % cut",
  bytesPerSecond: 50e6,
  firstByte: 30,
  cutShare: 0.01,
};

/** The number of workers, unless a comparison sets it. */
export const WORKERS = 2;

/** Numbers of connections that are compared with the automatic one. */
export const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64];

/** Part sizes that are compared, in MiB. */
export const PART_SIZES = [1, 2, 4, 8, 16, 32, 64];
