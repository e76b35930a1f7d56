import { initSync, RangeCutter } from "../../wasm/decode.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { instantiate } from "../wasm/instantiate.js";
import type { Frames } from "./frames.js";

/**
 * Cuts a snapshot into ranges of about `partSize` bytes that contain all `wanted` frames. Returns the first
 * frame of each range, and the one after its last.
 *
 * @param wanted frames in ascending order
 */
export async function cutRanges(
  frames: Frames,
  wanted: Iterable<number>,
  partSize: number,
): Promise<Uint32Array> {
  const { memory } = instantiate(initSync, await compiledDecode());
  const cutter = new RangeCutter();
  try {
    for (const index of wanted) {
      new Uint8Array(memory.buffer).set(frames.record(index), cutter.record());
      cutter.push();
    }
    const count = cutter.cut(partSize);
    return new Uint32Array(memory.buffer.slice(cutter.ranges(), cutter.ranges() + 8 * count));
  } finally {
    cutter.free();
  }
}
