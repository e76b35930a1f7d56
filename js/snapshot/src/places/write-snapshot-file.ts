import type { FileHandle } from "node:fs/promises";
import type { EncodeJob } from "../encode/encode-job.js";
import { readManifest, type SnapshotInfo } from "../format/manifest.js";
import { checkOther } from "../local/other-file.js";
import { SnapshotFile } from "../local/snapshot-file.js";
import { writeWhole, writing } from "../local/whole-file.js";

/** Creates a snapshot as a local file. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export async function writeSnapshotFile(path: string, making: EncodeJob): Promise<SnapshotInfo> {
  await checkOther("destination", path, making.image.id);
  return writeWhole(path, making.options, (handle) => fillSnapshotFile(path, handle, making));
}

/** Writes a snapshot to an open file. */
export async function fillSnapshotFile(
  path: string,
  handle: FileHandle,
  { make }: EncodeJob,
): Promise<SnapshotInfo> {
  await make(async (bytes) => {
    for await (const chunk of bytes) await writing(path, handle.writeFile(chunk));
  });
  return (await readManifest(await SnapshotFile.of(path, handle))).info;
}
