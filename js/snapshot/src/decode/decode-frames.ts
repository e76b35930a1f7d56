import type { SnapshotFile } from "../local/snapshot-file.js";
import { type WorkOptions, workerCount } from "../options/work-options.js";
import { withWorkers } from "../workers/pool.js";
import { DECODE_WORKER } from "../workers/scripts.js";
import type { DecodeData } from "./decode-worker.js";
import type { FrameWork } from "./frame-work.js";

/** Decodes the frames of a file, each by whichever thread is free. */
export async function decodeFrames(
  file: SnapshotFile,
  work: FrameWork,
  options: WorkOptions,
): Promise<void> {
  const count = workerCount(options, work.frames);
  const data: DecodeData = { ...(await work.sinkData()), source: file.fd };
  await withWorkers<null, null, void>(DECODE_WORKER, count, data, options.signal, (pool) =>
    work.withProgress(
      options,
      (error) => void pool.end(error),
      async () => {
        await pool.runOnAll(null);
      },
    ),
  );
}
