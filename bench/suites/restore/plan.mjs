// The image, the networks, the settings and the number of rounds.

export const PLAN = {
  /** Of the image of the comparisons, with the minimum of files in it. */
  imageBytes: 2 ** 32,
  dataBytes: 1.45e9,
  rounds: 3,
  warmUps: 1,
  /** Restores in which the connections of Hedgerow are counted. */
  probes: 3,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = { imageBytes: 2 ** 29, dataBytes: 0.06e9, rounds: 1, warmUps: 0, probes: 1 };

/**
 * A network: the rate of a connection or of all together in bytes a second, milliseconds to the first byte of a response,
 * and the share of responses whose connection is cut within the body.
 *
 * @typedef {{ name: string, bytesPerSecond?: number, sharedBytesPerSecond?: number, firstByte?: number, cutShare?: number }} Network
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
