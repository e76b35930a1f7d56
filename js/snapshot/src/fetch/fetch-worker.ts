/** The worker that downloads ranges of a snapshot and decodes their frames as they arrive. */
import { setPriority } from "node:os";

import { FrameSink } from "../decode/frame-sink.js";
import { serve } from "../workers/serve.js";
import type { FetchData, FetchTask } from "./fetch-task.js";
import { RangeFetcher } from "./range-fetcher.js";

let opened: { readonly data: FetchData; readonly sink: FrameSink } | undefined;

serve<FetchTask, null>(async (task, emit) => {
  if (task.kind === "open") {
    // On Linux this is the priority of the thread.
    if (task.data.niceness) setPriority(task.data.niceness);
    opened = { data: task.data, sink: new FrameSink(task.data) };
  }
  if (opened === undefined) throw new Error(`expected the task "open" first, found "${task.kind}"`);
  const { data, sink } = opened;
  if (task.kind === "resume") {
    const { frames, counters } = sink;
    for (let index = counters.next(); index < frames.count; index = counters.next())
      sink.resume(index);
  } else if (task.kind === "fetch") {
    await new RangeFetcher(data, sink, task.plan, emit).run();
  }
  return [null, []];
});
