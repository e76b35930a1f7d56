import type { FileHandle } from "node:fs/promises";
import type { EncodeJob } from "../encode/encode-image.js";
import { type Manifest, readManifest, type SnapshotInfo } from "../format/manifest.js";
import { writeAtomically } from "../local/atomic-write.js";
import { checkDifferentFile, SnapshotFile } from "../local/open-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";

/** Creates a snapshot as a local file. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export async function writeSnapshotFile(path: string, making: EncodeJob): Promise<SnapshotInfo> {
  await checkDifferentFile("destination", path, making.image.id);
  const fill = async (file: FileHandle) => (await fillSnapshotFile(path, file, making)).info;
  return writeAtomically(path, making.options, fill);
}

/** Writes a snapshot to an open file. Returns its manifest, read back from the bytes that were written. */
export async function fillSnapshotFile(
  path: string,
  handle: FileHandle,
  { make }: EncodeJob,
): Promise<Manifest> {
  await make(async (bytes) => {
    for await (const chunk of bytes) await wrapWriteErrors(path, handle.writeFile(chunk));
  });
  return readManifest(await SnapshotFile.of(path, handle));
}
