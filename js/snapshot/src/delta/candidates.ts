import { BLOCK_SIZE } from "../format/limits.js";
import { type Extent, subtract, widen } from "../local/extents.js";

/** Whole blocks of an image that a delta may have to contain. */
export interface Candidate extends Extent {
  /** Whether they are compared with the base; if not, they count as changed. */
  readonly isCompared: boolean;
  /** Where its bytes are in the file that is read. Default: at `start` */
  readonly position?: number;
}

/** Returns the candidates of an image, in order: `changed` ranges, and all other blocks of `compared` ranges. */
export function candidatesOf(
  imageSize: number,
  changed: readonly Extent[],
  compared: readonly Extent[],
): Candidate[] {
  const certain = widen(changed, BLOCK_SIZE, imageSize);
  const possible = subtract(widen(compared, BLOCK_SIZE, imageSize), certain);
  const candidates = [
    ...certain.map((extent) => ({ ...extent, isCompared: false })),
    ...possible.map((extent) => ({ ...extent, isCompared: true })),
  ];
  return candidates.sort((a, b) => a.start - b.start);
}

/** Returns the last block of a base if it is incomplete and the image is longer: it then counts as changed. */
export function grownBlock(imageSize: number, baseSize: number): Extent[] {
  const rest = baseSize % BLOCK_SIZE;
  if (rest === 0 || imageSize <= baseSize) return [];
  return [{ start: baseSize - rest, end: baseSize }];
}
