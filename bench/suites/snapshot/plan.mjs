// What image snapshots are made of, and how often they are.

/**
 * @typedef {object} Plan
 * @property {number} imageBytes of the image
 * @property {number} dataBytes of the files in it, at least
 * @property {number} rounds how often each command has its turn on the whole image
 * @property {number} pieces how many of its pieces are coded and decoded, from all over it
 * @property {number} codecRounds how often
 */

/** @type {Plan} */
export const PLAN = {
  imageBytes: 2 ** 32,
  dataBytes: 1.1e9,
  rounds: 5,
  pieces: 128,
  codecRounds: 12,
};

/** @type {Plan} */
export const QUICK = {
  imageBytes: 2 ** 29,
  dataBytes: 0.14e9,
  rounds: 1,
  pieces: 16,
  codecRounds: 2,
};

/** How many times as large an image is that has the same data. */
export const LARGER = 16;
