// What is restored, how often, and what networks there are.

/**
 * @typedef {object} Plan
 * @property {number} imageBytes of the image that everything is compared on
 * @property {number} dataBytes of the files in it, at least
 * @property {number} rounds how often everything is measured
 * @property {number} warmUps how often before that
 * @property {number} looks how often it is looked how many connections ours has
 */

/** @type {Plan} */
export const PLAN = {
  imageBytes: 2 ** 32,
  dataBytes: 1.45e9,
  rounds: 3,
  warmUps: 1,
  looks: 3,
};

/** @type {Plan} */
export const QUICK = { imageBytes: 2 ** 29, dataBytes: 0.06e9, rounds: 1, warmUps: 0, looks: 1 };

/** Images of other sizes, with as much data in proportion. */
export const SIZES = [
  { name: "a quarter of the size", factor: 1 / 4 },
  { name: "half the size", factor: 1 / 2 },
  { name: "twice the size", factor: 2 },
];

/** An image that has more holes, and the same data. */
export const SPARSE = { name: "4 times the size, the same data", factor: 4 };

/**
 * A network: the rate of each connection in bytes a second, milliseconds to the first byte of an answer,
 * and the share of answers after some of whose bytes the connection is cut.
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

/** How many threads restore, unless it is said. */
export const WORKERS = 2;

/** Numbers of connections that are compared, beside those that are found at run time. */
export const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64];

/** Sizes of parts that are compared, in MiB. */
export const PART_SIZES = [1, 2, 4, 8, 16, 32, 64];
