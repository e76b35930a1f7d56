import type { Transfer } from "../../options/transfer-options.js";
import { responseFailure } from "../request-failure.js";
import type { ServerRequest } from "../server-request.js";
import { get } from "./get.js";
import { strongEtag } from "./object-version.js";
import { withReadRetries } from "./with-read-retries.js";

/** Statuses of a response to a request for the first byte: that byte, the whole object, an empty object. */
const FOUND: ReadonlySet<unknown> = new Set([206, 200, 416]);

/**
 * Returns the current strong ETag of an object, if it has one. It requests one byte with a `GET`, since a
 * presigned URL does not allow `HEAD`.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, and the signal's reason
 */
export function fetchEtag(
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return withReadRetries(name, transfer, signal, () =>
    get(request, { range: "bytes=0-0" }, transfer, signal, async ({ response }) => {
      if (!FOUND.has(response.statusCode)) throw responseFailure(response);
      return strongEtag(response.headers.etag);
    }),
  );
}
