import { wrapWriteErrors } from "../../local/atomic-write.js";
import { freeSpace, insufficientSpace } from "../../local/free-space.js";
import { SnapshotFile } from "../../local/snapshot-file.js";
import { wrapSystemErrorsSync } from "../../local/system-errors.js";
import { type TemporaryFile, withTemporaryFile } from "../../local/temporary-file.js";
import { writeFullySync } from "../../local/write-fully.js";
import type { Transfer } from "../../options/transfer-options.js";
import { responseFailure } from "../request-failure.js";
import type { ServerRequest } from "../server-request.js";
import { get } from "./get.js";
import { contentLength } from "./object-version.js";
import { withReadRetries } from "./with-read-retries.js";

/**
 * Downloads an object in one stream into a temporary file, for servers that do not support ranges, and passes
 * the file to `use`.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_TARGET`, and what `use` throws
 */
export function spool<T>(
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
  use: (file: SnapshotFile) => Promise<T>,
): Promise<T> {
  return withTemporaryFile(async (file) => {
    await downloadInto(file, request, name, transfer, signal);
    return use(await SnapshotFile.of(name, file.handle));
  });
}

/** Downloads an object in one stream into an open file. @throws {SnapshotError} `ERR_SOURCE`, `ERR_TARGET` */
export async function downloadInto(
  { path, handle }: TemporaryFile,
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<void> {
  const room = await freeSpace(path);
  await withReadRetries(name, transfer, signal, async () => {
    await wrapWriteErrors(path, handle.truncate(0));
    await get(request, {}, transfer, signal, async ({ response, download }) => {
      if (response.statusCode !== 200) throw responseFailure(response);
      // A response without a length must not fill the disk.
      const maxLength = contentLength(response.headers) ?? room / 2;
      if (maxLength > room) throw insufficientSpace(path, maxLength, room);
      let position = 0;
      await download.body(response, (bytes) => {
        if (bytes.length > maxLength - position)
          throw insufficientSpace(path, position + bytes.length, room);
        wrapSystemErrorsSync("ERR_TARGET", `cannot write ${path}`, () =>
          writeFullySync(handle.fd, bytes, position),
        );
        position += bytes.length;
      });
    });
  });
}
