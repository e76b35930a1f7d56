/** Small objects that are read and written as a whole. */

import { get, wholeBody } from "../http/get.js";
import { put } from "../http/put.js";
import { requestTo } from "../http/request.js";
import { type TransferOptions, transferOf } from "../http/transfer.js";
import { writeAtomically } from "../local/atomic-write.js";
import { SnapshotFile } from "../local/open-file.js";
import { openTemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { planOf, serviceOf } from "../services/open-service.js";
import type { Location } from "./location.js";
import { withRequestAt } from "./request-at.js";

type SmallObjectOptions = TransferOptions & { readonly signal?: AbortSignal | undefined };

/**
 * Reads an object, with one request. Returns undefined if it is longer than `maxLength` bytes.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`
 * @throws {RequestFailure}
 */
export async function readSmallObject(
  location: Location,
  maxLength: number,
  options: SmallObjectOptions,
): Promise<Buffer | undefined> {
  if (location.kind === "file") {
    const file = await SnapshotFile.open(location.path);
    try {
      return file.size > maxLength ? undefined : Buffer.from(await file.read(0, file.size));
    } finally {
      await file.close();
    }
  }
  const transfer = transferOf(options);
  return withRequestAt(location, options, ({ request }) =>
    get(request, {}, transfer, options.signal, (open) => wholeBody(open, maxLength)),
  );
}

/**
 * Writes an object.
 *
 * @param overwrite whether to replace an existing one, if the location is not a URL of HTTP
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
export async function writeSmallObject(
  location: Location,
  bytes: Uint8Array,
  options: SmallObjectOptions,
  overwrite = true,
): Promise<void> {
  const { signal, headers } = options;
  const transfer = transferOf(options);
  switch (location.kind) {
    case "file":
      return writeAtomically(location.path, { signal, overwrite }, (file) =>
        wrapWriteErrors(location.path, file.writeFile(bytes)),
      );
    case "http": {
      const { path, handle } = await openTemporaryFile();
      try {
        await wrapWriteErrors(path, handle.writeFile(bytes));
        const body = { handle, size: bytes.length };
        return await put(requestTo(location.url, headers), body, transfer, signal);
      } finally {
        await handle.close();
      }
    }
    case "object": {
      const service = await serviceOf(location, options);
      try {
        const plan = planOf(
          service,
          { signal, overwrite },
          { ...transfer, connections: 1 },
          bytes.length,
        );
        await service.upload(location.key, plan, (write) => write(chunks(bytes)));
      } finally {
        service.close();
      }
    }
  }
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
