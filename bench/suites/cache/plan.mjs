// The images, traces and numbers of rounds.

/**
 * @typedef {object} Plan
 * @property {number[]} sizes of images, in bytes
 * @property {number} dataShare minimum share of files in each
 * @property {number} hits number of hits
 * @property {number} hashed maximum of bytes that are hashed
 * @property {number} processes number of first hits
 * @property {number} copies rounds of copies
 * @property {number[]} entries sizes of caches that are opened, in images
 * @property {number} opens rounds of opening them
 * @property {number} restoredBytes size of the image that is restored with and without a cache
 * @property {number} restores rounds of that
 * @property {TracePlan} traces
 */

/**
 * A trace of requests for images of different sizes.
 *
 * @typedef {object} TracePlan
 * @property {number} images number of images
 * @property {number} smallest in bytes
 * @property {number} largest in bytes
 * @property {number} requests
 * @property {number[]} exponents of Zipf's law
 * @property {{ images: number, share: number }} base the images with most requests, and their share
 * @property {number[]} shares capacities of the cache, as shares of all bytes
 */

/** @type {Plan} */
export const PLAN = {
  sizes: [2 ** 26, 2 ** 28, 2 ** 30, 2 ** 32, 2 ** 33],
  dataShare: 1 / 4,
  hits: 200,
  hashed: 2 ** 40,
  processes: 11,
  copies: 5,
  entries: [10, 1000, 10_000],
  opens: 11,
  restoredBytes: 2 ** 30,
  restores: 5,
  traces: {
    images: 256,
    smallest: 2 ** 17,
    largest: 2 ** 22,
    requests: 5000,
    exponents: [0.8, 1, 1.2],
    base: { images: 8, share: 0.97 },
    shares: [0.05, 0.1, 0.25, 0.5],
  },
};

/**
 * The same images with less data, and traces of smaller images.
 *
 * @type {Plan}
 */
export const QUICK = {
  ...PLAN,
  dataShare: 1 / 64,
  hits: 10,
  hashed: 2 ** 28,
  processes: 1,
  copies: 1,
  opens: 1,
  restores: 1,
  traces: { ...PLAN.traces, smallest: 2 ** 12, largest: 2 ** 17, requests: 250 },
};

/** A limit under which nothing is evicted. */
export const NO_EVICTION = 2 ** 40;
