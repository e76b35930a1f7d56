/** Constants of the format: see `docs/vhs.md`. */

/** The size of a block, in bytes. */
export const BLOCK_SIZE = 4096;

/** The maximum size of an image, in bytes: 16 TiB. */
export const MAX_IMAGE_SIZE = 2 ** 44;

/** The length of the header of a full snapshot, in bytes. */
export const HEADER_LENGTH = 32;

/** The minimum length of a hole inside of a piece, in bytes of the image. */
export const MIN_HOLE_LENGTH = 2 ** 16;

/** The maximum length of a hole frame, in bytes of the image. */
export const MAX_HOLE_LENGTH = 2 ** 26;

/** The maximum number of base objects of a delta. */
export const MAX_BASE_OBJECTS = 8;

/** The maximum length of a reference, in bytes. */
export const MAX_REFERENCE_LENGTH = 1024;
