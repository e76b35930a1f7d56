import { forUploads, type Transfer } from "../../options/transfer-options.js";
import { CleanCause } from "../clean-cause.js";
import { followRedirects, Redirection } from "../redirect.js";
import { EXISTS, RequestFailure, responseFailure } from "../request-failure.js";
import { isLost } from "../retry.js";
import { safeName } from "../safe-url.js";
import type { ServerRequest } from "../server-request.js";
import { withRetries } from "../with-retries.js";
import { sendFile, type UploadFile, type UploadResponse } from "./send-file.js";

/** The size in bytes from which an upload sends `Expect: 100-continue`. The same as curl's. */
const EXPECT_SIZE = 2 ** 20;

/** The status of a server that does not support `Expect`. The same request without it may succeed. */
const EXPECTATION_FAILED = 417;

/**
 * Uploads a file with a `PUT`, and retries transient failures. An abort after the last byte was sent comes too
 * late: the response is awaited for some seconds.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function put(
  request: ServerRequest,
  file: UploadFile,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { retries, timeouts } = transfer;
  const { firstByte: answer } = forUploads(transfer).timeouts;
  let [attempts, asksFirst] = [0, file.size > EXPECT_SIZE];
  const isConditional = "if-none-match" in request.condition;
  const what = `cannot write ${safeName(request.url)}`;
  await withRetries(
    {
      ...{ retries, signal, failureOf, isFinal },
      errorOf: (failure, failures) => {
        const isLate = isConditional && failures > 1 && failure.details.status === 412;
        return (isLate ? ambiguous() : failure).toError(what, isLate ? 1 : failures, "ERR_TARGET");
      },
    },
    async () => {
      attempts += 1;
      await followRedirects(request, async (next) => {
        const send = () =>
          sendFile(next, file, { isCareful: attempts > 1, asksFirst, answer }, timeouts, signal);
        let response = await send();
        if (response.statusCode === EXPECTATION_FAILED && asksFirst) {
          asksFirst = false;
          response = await send();
        }
        if (isRedirect(response)) return new Redirection(response);
        return checkAccepted(response, isConditional);
      });
    },
  );
}

/** Returns whether a response redirects a `PUT`. Other redirects would make it a `GET`. */
function isRedirect({ statusCode }: UploadResponse): boolean {
  return statusCode === 307 || statusCode === 308;
}

/** @throws {RequestFailure} if the server refused the upload */
function checkAccepted(response: UploadResponse, isConditional: boolean): void {
  const { statusCode } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  if (statusCode !== 412 || !isConditional) throw responseFailure(response);
  throw new RequestFailure(EXISTS, false, { status: 412 });
}

function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  const cause = new CleanCause(error);
  return new RequestFailure(cause.description, isLost(error), { cause });
}

/** Whether the server has refused the file, which it may do after an abort that came too late. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof RequestFailure && !error.isTransient && error.details.status !== undefined
  );
}

/** The failure of a repeated upload that finds something there: it may be its own. */
function ambiguous(): RequestFailure {
  const message =
    "destination already exists (HTTP 412); an earlier attempt whose response was lost may have written it";
  return new RequestFailure(message, false, { status: 412 });
}
