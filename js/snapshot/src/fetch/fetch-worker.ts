/** Fetches ranges of a snapshot from a server, and decodes their frames as they come. */
import { FrameSink } from "../decode/frame-sink.js";
import { serve } from "../workers/serve.js";
import { type FetchData, RangeFetcher, type Ranges } from "./range-fetcher.js";

/** What to do: begin with a snapshot, find what an earlier run has restored of it, and fetch the rest. */
export type FetchTask =
  | { readonly kind: "begin"; readonly data: FetchData }
  | { readonly kind: "recall" }
  | { readonly kind: "fetch"; readonly ranges: Ranges };

let begun: { readonly data: FetchData; readonly sink: FrameSink } | undefined;

serve<FetchTask, null>(async (task, emit) => {
  if (task.kind === "begin") begun = { data: task.data, sink: new FrameSink(task.data) };
  if (begun === undefined) throw new Error("expected to be told with what to begin");
  const { data, sink } = begun;
  if (task.kind === "recall") {
    const { frames, counters } = sink;
    for (let index = counters.next(); index < frames.count; index = counters.next())
      sink.recall(index);
  } else if (task.kind === "fetch") {
    await new RangeFetcher(data, sink, task.ranges, emit).run();
  }
  return [null, []];
});
