import { freeSpace, insufficientSpace } from "../../local/free-space.js";
import { SnapshotFile } from "../../local/snapshot-file.js";
import { withFileSync } from "../../local/system-failure.js";
import { withTemporaryFile } from "../../local/temporary-file.js";
import { writing } from "../../local/whole-file.js";
import { writeFullySync } from "../../local/write-fully.js";
import type { Transfer } from "../../options/transfer-options.js";
import { refused } from "../failure.js";
import type { ServerRequest } from "../server-request.js";
import { follow } from "./follow.js";
import { lengthOf } from "./object-version.js";
import { withRetries } from "./with-retries.js";

/**
 * Fetches all of an object in one stream, where there are no ranges, and has `use` work with the file.
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
  return withTemporaryFile(async ({ path, handle }) => {
    const room = await freeSpace(path);
    await withRetries(`cannot read ${name}`, transfer, signal, async () => {
      await writing(path, handle.truncate(0));
      await follow(request, {}, transfer, signal, async ({ response, download }) => {
        if (response.statusCode !== 200) throw refused(response);
        // One that has no end is not to fill the disk.
        const most = lengthOf(response.headers) ?? room / 2;
        if (most > room) throw insufficientSpace(path, most, room);
        let position = 0;
        await download.body(response, (bytes) => {
          if (bytes.length > most - position)
            throw insufficientSpace(path, position + bytes.length, room);
          withFileSync("ERR_TARGET", `cannot write ${path}`, () =>
            writeFullySync(handle.fd, bytes, position),
          );
          position += bytes.length;
        });
      });
    });
    return use(await SnapshotFile.of(name, handle));
  });
}
