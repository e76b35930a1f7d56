/** The worker that reads the frames of local files and decodes them. */
import { readFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync } from "../local/system-errors.js";
import { serve } from "../workers/serve.js";
import { FrameSink, type SinkData } from "./frame-sink.js";

/** The data of a decode worker. */
export interface DecodeData extends SinkData {
  /** The file descriptors of the files, by the number of the object. */
  readonly sources: readonly (number | undefined)[];
}

/** A worker decodes one frame at a time, so one slot of the decoder is enough. */
const SLOT = 0;

serve<DecodeData, null, null>((data) => {
  const sink = new FrameSink(data);
  const { frames, states, counters } = sink;

  const decode = (index: number, source: number) => {
    const input = sink.view(sink.begin(SLOT, index), frames.compressedLength(index));
    const name = data.sourceNames[frames.object(index)];
    const count = wrapSystemErrorsSync("ERR_SOURCE", `cannot read ${name}`, () =>
      readFullySync(source, input, frames.fileOffset(index)),
    );
    sink.finish(SLOT, index, count);
  };

  const run = (): [null, []] => {
    for (let index = counters.next(); index < frames.count; index = counters.next()) {
      sink.resume(index);
      const source = data.sources[frames.object(index)];
      if (source !== undefined && !states.isTaken(index)) decode(index, source);
    }
    return [null, []];
  };

  return { run, free: () => sink.free() };
});
