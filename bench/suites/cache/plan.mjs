// What is measured of the cache, and how often.

/**
 * @typedef {object} Plan
 * @property {number[]} sizes of images, in bytes
 * @property {number} dataShare how much of each is files, at least
 * @property {number} hits how often an image is got that is there
 * @property {number} hashed how many bytes of an image are hashed, at most
 * @property {number} processes how many processes get their first image
 * @property {number} copies how often each image is copied in each way
 * @property {number[]} entries how many images there are in caches that are opened
 * @property {number} opens how many processes open each of them
 * @property {number} restoredBytes the size of the image that is restored with a cache and without
 * @property {number} restores how often
 * @property {TracePlan} traces
 */

/**
 * Requests for images of many sizes, by a trace.
 *
 * @typedef {object} TracePlan
 * @property {number} images how many images there are
 * @property {number} smallest in bytes
 * @property {number} largest in bytes
 * @property {number} requests
 * @property {number[]} exponents of Zipf's law
 * @property {{ images: number, share: number }} base how many images most requests are for, and their share
 * @property {number[]} shares of the bytes of all images that a cache may hold
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
 * The same images with less in them, and traces of small ones.
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

/** How many bytes a cache may take that nothing is to go from. */
export const ROOMY = 2 ** 40;
