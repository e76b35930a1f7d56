import type { Transfer } from "../../options/transfer-options.js";
import { requestFailureOf } from "../request-failure.js";
import { withRetries } from "../with-retries.js";

/**
 * Reads from a server, and retries transient failures.
 *
 * @param name the name of the object in messages
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, the signal's reason, and errors that are not
 *   the server's
 */
export function withReadRetries<T>(
  name: string,
  { retries }: Transfer,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  return withRetries(
    {
      ...{ retries, signal, failureOf: requestFailureOf },
      errorOf: (failure, failures) => failure.toError(`cannot read ${name}`, failures),
    },
    read,
  );
}
