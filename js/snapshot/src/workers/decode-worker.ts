/** Decodes frames, and writes them where they belong. */
import { workerData } from "node:worker_threads";

import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { Frames } from "../frames.js";
import { readFullySync } from "../local/read-fully.js";
import { withFileSync } from "../local/system-failure.js";
import { writeFullySync } from "../local/write-fully.js";
import { errorOf } from "../wasm/refusal.js";
import { serve } from "./serve.js";
import { Tally } from "./tally.js";

/** What a thread that decodes begins with. */
export interface DecodeData {
  readonly module: WebAssembly.Module;
  readonly records: SharedArrayBuffer;
  readonly tally: SharedArrayBuffer;
  readonly pieceSize: number;
  /** The open snapshot, and what it is called in messages. */
  readonly source: number;
  readonly sourceName: string;
  /** The open image; without one, all that there is is checked, and nothing written. */
  readonly target: number | undefined;
  readonly targetName: string;
}

const data = workerData as DecodeData;
const { memory } = initSync({ module: data.module });
const frames = new Frames(data.records);
const tally = new Tally(data.tally);
const decoder = createDecoder();

function createDecoder(): FrameDecoder {
  const decoder = FrameDecoder.create(data.pieceSize, data.target === undefined);
  if (decoder !== undefined) return decoder;
  throw new SnapshotError("ERR_WORKER", `no memory for pieces of ${data.pieceSize} bytes`);
}

function refused(): SnapshotError {
  return errorOf("ERR_SNAPSHOT_FORMAT", `${data.sourceName}: `, decoder.refusal(), memory);
}

/** Reads and decodes a frame. Returns how many runs it has that are to be written. */
function decode(index: number): number {
  new Uint8Array(memory.buffer).set(frames.record(index), decoder.record());
  const start = decoder.begin();
  if (start === 0) throw refused();
  const input = new Uint8Array(memory.buffer, start, frames.compressedLength(index));
  const position = frames.fileOffset(index);
  const count = withFileSync("ERR_SOURCE", `cannot read ${data.sourceName}`, () =>
    readFullySync(data.source, input, position),
  );
  const runs = decoder.finish(count);
  if (runs < 0) throw refused();
  return runs;
}

/** Writes the runs of the frame that was decoded. What is between them is zeros, as it was before. */
function write(index: number, count: number, target: number): void {
  const out = decoder.out();
  const position = frames.imageOffset(index);
  const runs = new Uint32Array(memory.buffer, decoder.runs(), 2 * count);
  for (let run = 0; run < runs.length; run += 2) {
    const [start, end] = [runs[run] as number, runs[run + 1] as number];
    const block = new Uint8Array(memory.buffer, out + start, end - start);
    withFileSync("ERR_TARGET", `cannot write ${data.targetName}`, () =>
      writeFullySync(target, block, position + start),
    );
  }
}

serve<null, null>(() => {
  for (let index = tally.next(); index < frames.count; index = tally.next()) {
    if (frames.isHole(index) && data.target !== undefined) continue;
    const runs = decode(index);
    if (data.target !== undefined) write(index, runs, data.target);
    tally.count(frames.rawLength(index), frames.compressedLength(index));
  }
  return [null, []];
});
