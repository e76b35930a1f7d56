/** The tasks of workers that compress pieces of a delta. */

/** The numbers of a range in a task: its first block, the block after its last, its kind, and the position of its bytes. */
export const RANGE_NUMBERS = 4;

/**
 * The kinds of a range in a task. Its blocks are compared with the base, or have changed; the rest of the piece is then
 * read to find out if it is zeros, is zeros, or may be data.
 */
export const [COMPARED, CHANGED, AMONG_ZEROS, AMONG_DATA] = [0, 1, 2, 3] as const;

/** Pieces of an image that a delta may have to contain. */
export interface DeltaTask {
  /** The candidates in them, in order and divided by pieces, {@link RANGE_NUMBERS} for each. */
  readonly ranges: Float64Array<ArrayBuffer>;
}
