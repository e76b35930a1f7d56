// The image and the number of rounds.

/**
 * @typedef {object} Plan
 * @property {number} imageBytes of the image
 * @property {number} dataBytes minimum of the files in it
 * @property {number} rounds for whole images
 * @property {number} pieces number of pieces that are sampled for the codec
 * @property {number} codecRounds rounds for the codec
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

/** The factor of size of an image with the same data. */
export const LARGER = 16;
