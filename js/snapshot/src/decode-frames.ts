import type { SnapshotFile } from "./local/snapshot-file.js";
import type { Manifest } from "./manifest.js";
import { type WorkOptions, workerCount } from "./options.js";
import { withProgress } from "./progress.js";
import { compiledModule } from "./wasm/module.js";
import type { DecodeData } from "./workers/decode-worker.js";
import { withWorkers } from "./workers/pool.js";
import { Tally } from "./workers/tally.js";

/** An image that is open for writing, as long as it will be, and all zeros. */
export interface OpenImage {
  readonly fd: number;
  /** What it is called in messages. */
  readonly name: string;
}

/**
 * Decodes the frames of a snapshot, each by whichever thread is free.
 *
 * @param image what the data is written to; without it, all frames are checked, those of holes as well
 */
export async function decodeFrames(
  file: SnapshotFile,
  { info, frames }: Manifest,
  image: OpenImage | undefined,
  options: WorkOptions,
): Promise<void> {
  const isRestore = image !== undefined;
  const count = workerCount(options, isRestore ? info.dataFrames : frames.count);
  const tally = new Tally();
  const data: DecodeData = {
    module: await compiledModule("decode"),
    records: frames.records,
    tally: tally.buffer,
    pieceSize: info.pieceSize,
    source: file.fd,
    sourceName: file.name,
    target: image?.fd,
    targetName: image?.name ?? "",
  };
  const script = new URL("./workers/decode-worker.js", import.meta.url);
  await withWorkers<null, null, void>(script, count, data, options.signal, (pool) =>
    withProgress(
      options.onProgress,
      {
        phase: isRestore ? "restore" : "verify",
        totalBytes: isRestore ? info.dataSize : info.imageSize,
        counts: () => tally.counts,
      },
      (error) => void pool.end(error),
      async () => {
        await Promise.all(Array.from({ length: count }, () => pool.run(null)));
      },
    ),
  );
}
