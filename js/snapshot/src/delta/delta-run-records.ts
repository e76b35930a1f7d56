import { BLOCK_SIZE } from "../format/limits.js";

/** Length of the record of a piece of a delta in `encode.wasm`, in bytes. */
export const DELTA_PIECE_LENGTH = 16;

/** Length of the record of a run of a delta in `encode.wasm`, in bytes. */
export const DELTA_RUN_LENGTH = 12;

/** The frame in the record of a run that is as in the base. */
const UNCHANGED = 0xffff_fffe;

/** Returns the number of bytes of an image in the blocks of pieces that changed. */
export function changedBytesOf(
  { pieces, runs }: { readonly pieces: ArrayBuffer; readonly runs: ArrayBuffer },
  imageSize: number,
): number {
  const [counts, words] = [new Uint32Array(pieces), new Uint32Array(runs)];
  const firsts = new Float64Array(pieces);
  let bytes = 0;
  for (let piece = 0, at = 0; piece * 4 < counts.length; piece += 1) {
    let block = firsts[piece * 2] as number;
    for (let runsLeft = counts[piece * 4 + 3] as number; runsLeft > 0; runsLeft -= 1, at += 3) {
      const end = block + (words[at] as number);
      const isChanged = words[at + 1] !== UNCHANGED;
      if (isChanged) bytes += Math.min(end * BLOCK_SIZE, imageSize) - block * BLOCK_SIZE;
      block = end;
    }
  }
  return bytes;
}
