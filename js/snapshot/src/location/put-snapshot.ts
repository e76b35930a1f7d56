import type { EncodeJob } from "../encode/encode-image.js";
import { SnapshotError } from "../error.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { put } from "../http/put.js";
import { requestTo } from "../http/request.js";
import { withTemporaryFile } from "../local/private-file.js";
import { checkAbsentAt, checkStoredAt, isStoredAt } from "./stored-snapshot.js";
import { fillSnapshotFile } from "./write-snapshot-file.js";

/**
 * Uploads a snapshot to a URL. The request has to state its length, which is known only when the snapshot is
 * complete, so that it is written to a temporary file first. If it must not replace an object, the URL is read before and
 * after the upload: some servers ignore the condition.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
export async function putSnapshot(url: URL, making: EncodeJob): Promise<SnapshotInfo> {
  const { options, transfer } = making;
  const { headers, signal, overwrite = true } = options;
  const request = requestTo(url, headers, overwrite ? {} : { "if-none-match": "*" });
  if (!overwrite) await checkAbsentAt(url, options);
  return withTemporaryFile(async ({ path, handle }) => {
    const { info } = await fillSnapshotFile(path, handle, making);
    try {
      await put(request, { handle, size: info.fileSize }, transfer, signal);
    } catch (error) {
      // An earlier attempt may have stored it, whose response was lost.
      const isThere = error instanceof SnapshotError && error.status === 412;
      if (isThere && (await isStoredAt(url, info.digest, options))) return info;
      throw error;
    }
    if (!overwrite) await checkStoredAt(url, info.digest, options);
    return info;
  });
}
