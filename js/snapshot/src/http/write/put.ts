import { STATUS_CODES } from "node:http";
import { pause } from "../../abort.js";
import { SnapshotError } from "../../error.js";
import type { Transfer } from "../../options/transfer-options.js";
import { CleanCause } from "../clean-cause.js";
import { MAX_REDIRECTS, redirected } from "../redirect.js";
import { backoff, isLost, isRetryableStatus, MAX_RETRY_AFTER, retryAfter } from "../retry.js";
import { safeName } from "../safe-url.js";
import type { ServerRequest } from "../server-request.js";
import { type Answer, type Sendable, sendFile } from "./put-request.js";

/**
 * Sends a file with a `PUT`, and again where that may fare better. An abort that comes after the last
 * byte was sent comes too late: the answer is awaited for some seconds.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function put(
  request: ServerRequest,
  content: Sendable,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const outcome = await attemptOf(request, content, attempt > 1, transfer, signal);
    if ("isDone" in outcome) return;
    if (outcome.wait === undefined || attempt > transfer.retries) {
      throw attempt > 1 && outcome.status === 412 ? ambiguous(request.url) : outcome.error;
    }
    await pause(Math.max(backoff(attempt), outcome.wait), signal);
  }
}

/** What became of a try: if it failed, how long to wait at least before the next, if that may help. */
type Outcome =
  | { readonly isDone: true }
  | {
      readonly error: SnapshotError;
      readonly status?: number | undefined;
      readonly wait?: number | undefined;
    };

async function attemptOf(
  request: ServerRequest,
  content: Sendable,
  isWary: boolean,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  try {
    const { status, headers } = await follow(request, content, isWary, transfer, signal);
    if (status >= 200 && status < 300) return { isDone: true };
    const error = refusal(request.url, status);
    if (!isRetryableStatus(status)) return { error, status };
    const wait = retryAfter(headers["retry-after"], Date.now()) ?? 0;
    return { error, status, wait: wait > MAX_RETRY_AFTER ? undefined : wait };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SnapshotError) return { error };
    const cause = new CleanCause(error);
    const message = `${safeName(request.url)}: expected an answer of the server, found ${cause.what}`;
    const failure = new SnapshotError("ERR_TARGET", message, { cause });
    return { error: failure, wait: isLost(error) ? 0 : undefined };
  }
}

/** Sends the file to where the server wants it. */
async function follow(
  first: ServerRequest,
  content: Sendable,
  isWary: boolean,
  { timeouts }: Transfer,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await sendFile(request, content, isWary, timeouts, signal);
    if (answer.status !== 307 && answer.status !== 308) return answer;
    const next = redirected(request, answer.headers.location);
    if (next === undefined || redirects === MAX_REDIRECTS) {
      const found = `found a redirect that is not followed (${answer.status})`;
      const message = `${safeName(first.url)}: expected the server to take it, ${found}`;
      throw new SnapshotError("ERR_TARGET", message, { status: answer.status });
    }
    request = next;
  }
}

function refusal(url: URL, status: number): SnapshotError {
  const name = safeName(url);
  const found = `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  const message =
    status === 412
      ? `${name}: expected nothing there, found something (${found})`
      : `${name}: expected the server to take it, found ${found}`;
  return new SnapshotError("ERR_TARGET", message, { status });
}

/** A server that has something may have it of an earlier try. */
function ambiguous(url: URL): SnapshotError {
  const found = "found something (412), maybe of a try before whose answer was lost";
  const message = `${safeName(url)}: expected nothing there, ${found}`;
  return new SnapshotError("ERR_TARGET", message, { status: 412 });
}
