import type { Transfer } from "../../options/transfer-options.js";
import { refused } from "../failure.js";
import type { ServerRequest } from "../server-request.js";
import { follow } from "./follow.js";
import { strongEtag } from "./object-version.js";
import { withRetries } from "./with-retries.js";

/** The answers to a request for the first byte: it, all, or that there is none. */
const ANSWERS: ReadonlySet<unknown> = new Set([206, 200, 416]);

/**
 * The ETag that an object has now, if it has one that stands for every byte. A signed URL is good for
 * nothing but reading, so that a byte is asked for.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, and the signal's reason
 */
export function askEtag(
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return withRetries(`cannot read ${name}`, transfer, signal, () =>
    follow(request, { range: "bytes=0-0" }, transfer, signal, async ({ response }) => {
      if (!ANSWERS.has(response.statusCode)) throw refused(response);
      return strongEtag(response.headers.etag);
    }),
  );
}
