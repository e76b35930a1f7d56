/** Reads frames from a file, and decodes them. */
import { workerData } from "node:worker_threads";

import { readFullySync } from "../local/read-fully.js";
import { withFileSync } from "../local/system-failure.js";
import { serve } from "../workers/serve.js";
import { FrameSink, type SinkData } from "./frame-sink.js";

/** What a thread that decodes a file begins with. */
export interface DecodeData extends SinkData {
  /** The open snapshot. */
  readonly source: number;
}

const data = workerData as DecodeData;
const sink = new FrameSink(data);
const { frames, states, counters } = sink;

/** The one slot: there is one frame at a time. */
const SLOT = 0;

function decode(index: number): void {
  const [length, position] = [frames.compressedLength(index), frames.fileOffset(index)];
  const input = sink.view(sink.begin(SLOT, index), length);
  const count = withFileSync("ERR_SOURCE", `cannot read ${data.sourceName}`, () =>
    readFullySync(data.source, input, position),
  );
  sink.finish(SLOT, index, count);
}

serve<null, null>(() => {
  for (let index = counters.next(); index < frames.count; index = counters.next()) {
    sink.recall(index);
    if (!states.isDone(index)) decode(index);
  }
  return [null, []];
});
