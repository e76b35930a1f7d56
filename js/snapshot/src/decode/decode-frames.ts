import type { SnapshotFile } from "../local/snapshot-file.js";
import { type WorkOptions, workerCount } from "../options/work-options.js";
import { withWorkers } from "../workers/pool.js";
import { DECODE_WORKER } from "../workers/scripts.js";
import type { DecodeJob } from "./decode-job.js";
import type { DecodeData } from "./decode-worker.js";

/** Decodes the frames of a local file: each worker takes the next frame until none is left. */
export async function decodeFrames(
  file: SnapshotFile,
  job: DecodeJob,
  options: WorkOptions,
): Promise<void> {
  const count = workerCount(options, job.frames);
  const data: DecodeData = { ...(await job.sinkData()), source: file.fd };
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
