import type { SnapshotFile } from "../local/open-file.js";
import { type WorkOptions, workerCount } from "../options/work-options.js";
import { withWorkers } from "../workers/pool.js";
import { DECODE_WORKER } from "../workers/scripts.js";
import type { DecodeJob } from "./decode-job.js";
import type { DecodeData } from "./decode-worker.js";

/**
 * Decodes the frames in local files: each worker takes the next frame until none is left.
 *
 * @param files the open files, by the number of the object; frames of other objects are left out
 */
export async function decodeFrames(
  files: readonly (SnapshotFile | undefined)[],
  job: DecodeJob,
  options: WorkOptions,
): Promise<void> {
  const count = workerCount(options, job.frames);
  const sources = files.map((file) => file?.fd);
  const data: DecodeData = { ...(await job.sinkData()), sources };
  job.counters.restart();
  await withWorkers<null, null, void>(DECODE_WORKER, count, data, options.signal, (pool) =>
    job.withProgress(
      options,
      (error) => void pool.end(error),
      async () => {
        await pool.runOnAll(null);
      },
    ),
  );
}
