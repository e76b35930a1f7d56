import type { FileHandle } from "node:fs/promises";
import type { EncodeJob } from "../encode/encode-job.js";
import { readManifest, type SnapshotInfo } from "../format/manifest.js";
import { wrapWriteErrors, writeAtomically } from "../local/atomic-write.js";
import { checkDifferentFile } from "../local/same-file.js";
import { SnapshotFile } from "../local/snapshot-file.js";

/** Creates a snapshot as a local file. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export async function writeSnapshotFile(path: string, making: EncodeJob): Promise<SnapshotInfo> {
  await checkDifferentFile("destination", path, making.image.id);
  return writeAtomically(path, making.options, (handle) => fillSnapshotFile(path, handle, making));
}

/** Writes a snapshot to an open file. */
export async function fillSnapshotFile(
  path: string,
  handle: FileHandle,
  { make }: EncodeJob,
): Promise<SnapshotInfo> {
  await make(async (bytes) => {
    for await (const chunk of bytes) await wrapWriteErrors(path, handle.writeFile(chunk));
  });
  return (await readManifest(await SnapshotFile.of(path, handle))).info;
}
