/** Length of the record of a run of a delta in `encode.wasm`, in bytes. */
export const DELTA_RUN_LENGTH = 12;

/** The frame in the record of a run that is as in the base. */
const UNCHANGED = 0xffff_fffe;

/** Returns the number of blocks of runs that changed. */
export function changedBlocks(runs: ArrayBuffer): number {
  const words = new Uint32Array(runs);
  let blocks = 0;
  for (let at = 0; at < words.length; at += 3)
    if (words[at + 1] !== UNCHANGED) blocks += words[at] as number;
  return blocks;
}
