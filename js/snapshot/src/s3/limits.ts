/** The smallest part that S3 accepts, except for the last, in bytes. */
export const MIN_PART_SIZE = 5 * 2 ** 20;

/** The most parts that an object of S3 may have. */
export const MAX_PARTS = 10_000;
