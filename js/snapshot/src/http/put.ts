/** Uploads a file with a `PUT`, so that the response of a server that refuses it is not lost. */
import type { FileHandle } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";

import { pause } from "../abort.js";
import { agentFor, proxyFields } from "./agent.js";
import {
  CleanCause,
  EXISTS,
  RequestFailure,
  type ResponseHead,
  responseFailure,
  safeName,
} from "./failure.js";
import { followRedirects, Redirection, type ServerRequest } from "./request.js";
import { isLost, withRetries } from "./retry.js";
import { onConnected, StepTimer } from "./step-timer.js";
import { forUploads, type Transfer } from "./transfer.js";

/** The size in bytes from which an upload sends `Expect: 100-continue`. The same as curl's. */
const EXPECT_SIZE = 2 ** 20;

/** The status of a server that does not support `Expect`. The same request without it may succeed. */
const EXPECTATION_FAILED = 417;

/** How many bytes are sent before a careful upload pauses. Many servers read 256 KiB before they answer. */
const FIRST_BYTES = 2 ** 19;

/** How long a careful upload pauses, in milliseconds. */
const MAX_PAUSE = 500;

/** How much of the file is read at a time, in bytes. */
const CHUNK = 2 ** 18;

/** How long to wait for `100 Continue`, in milliseconds: some servers never send it. */
const CONTINUE_TIMEOUT = 1_000;

/** How long to wait for the response after an abort if everything was sent, in milliseconds. */
const GRACE = 5_000;

/** An open file to upload. */
export interface UploadFile {
  readonly handle: FileHandle;
  readonly size: number;
}

/** The head of a response to an upload. Its body is ignored. */
interface UploadResponse extends ResponseHead {
  readonly statusCode: number;
}

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
  const isConditional = "if-none-match" in request.condition;
  const what = `cannot write ${safeName(request.url)}`;
  let attempts = 0;
  let asksFirst = file.size > EXPECT_SIZE;
  await withRetries(
    {
      retries: transfer.retries,
      signal,
      failureOf,
      isFinal,
      errorOf: (failure, failures) => {
        const isLate = isConditional && failures > 1 && failure.details.status === 412;
        return (isLate ? ambiguous() : failure).toError(what, isLate ? 1 : failures, "ERR_TARGET");
      },
    },
    async () => {
      attempts += 1;
      await followRedirects(request, async (next) => {
        const isCareful = attempts > 1;
        let response = await send(next, file, isCareful, asksFirst, transfer, signal);
        if (response.statusCode === EXPECTATION_FAILED && asksFirst) {
          asksFirst = false;
          response = await send(next, file, isCareful, asksFirst, transfer, signal);
        }
        // Other redirects would make it a `GET`.
        const isRedirect = response.statusCode === 307 || response.statusCode === 308;
        return isRedirect ? new Redirection(response) : checkAccepted(response, isConditional);
      });
    },
  );
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

/** The failure of a repeated upload that finds an object: an earlier attempt may have stored it. */
function ambiguous(): RequestFailure {
  const message =
    "destination already exists (HTTP 412); an earlier attempt whose response was lost may have written it";
  return new RequestFailure(message, false, { status: 412 });
}

/**
 * Sends a file with one `PUT`, over a new connection.
 *
 * @param isCareful whether to pause after the first bytes. A server that refuses an upload may close the connection
 *   before it has read everything; a client that keeps sending then loses the response.
 * @param asksFirst whether to send `Expect: 100-continue`
 * @throws the system's errors, or the signal's reason
 */
function send(
  request: ServerRequest,
  file: UploadFile,
  isCareful: boolean,
  asksFirst: boolean,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<UploadResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { url } = request;
    const { timeouts } = transfer;
    const { firstByte: responseTimeout } = forUploads(transfer).timeouts;
    const agent = agentFor(url.protocol, { keepAlive: false, connectTimeout: timeouts.connect });
    const { proxyName, path, headers: proxyHeaders } = proxyFields(url);
    const client = (url.protocol === "https:" ? https : http).request(url, {
      method: "PUT",
      agent,
      headers: {
        ...request.secret,
        ...request.condition,
        ...proxyHeaders,
        "content-length": file.size,
        ...(asksFirst ? { expect: "100-continue" } : {}),
      },
      ...(path === undefined ? {} : { path }),
    });
    const ended = new AbortController();
    const pauseLength = isCareful ? Math.min(MAX_PAUSE, timeouts.stall / 2) : 0;
    const body = Readable.from(chunksOf(file, pauseLength, ended.signal));
    const timer = new StepTimer((message) => client.destroy(systemError("ETIMEDOUT", message)));
    let continueTimer: NodeJS.Timeout | undefined;
    const settle = (act: () => void) => {
      timer.stop();
      clearTimeout(continueTimer);
      signal?.removeEventListener("abort", abort);
      body.destroy();
      ended.abort();
      client.destroy();
      agent.destroy();
      act();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    let isStarted = false;
    let sent = 0;
    const abort = () => {
      // A server discards an incomplete upload. If the last bytes were sent, only its response tells the outcome.
      if (isStarted && sent === file.size) timer.start(GRACE, "response");
      else fail(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });

    const sendBody = () => {
      if (isStarted) return;
      isStarted = true;
      timer.start(timeouts.stall, "progress");
      body.on("data", (chunk: Uint8Array) => {
        sent += chunk.length;
        timer.refresh();
      });
      body.pipe(client);
    };
    timer.start(timeouts.connect, "connection");
    onConnected(client, () => {
      if (!asksFirst) return sendBody();
      timer.stop();
      continueTimer = setTimeout(sendBody, CONTINUE_TIMEOUT);
    });
    client.once("continue", sendBody);
    client.once("finish", () => {
      timer.start(signal?.aborted ? GRACE : responseTimeout, "response");
    });
    body.once("error", fail);
    client.on("error", fail);
    client.once("close", () => fail(systemError("ECONNRESET", "the connection was closed")));
    client.once("response", ({ statusCode = 0, headers }) => {
      const done = () => settle(() => resolve({ statusCode, headers, proxyName }));
      // A server that accepts the file has all of it, but the system may not have told Node yet.
      if (statusCode < 200 || statusCode >= 300 || client.writableFinished) done();
      else client.once("finish", done);
    });
  });
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Reads a file in chunks. The handle knows of a pending read, and closes only after it.
 *
 * @param pauseLength how long to pause after the first bytes, in milliseconds
 */
async function* chunksOf(
  { handle, size }: UploadFile,
  pauseLength: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, size - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error(`expected ${size} bytes, found ${position}`);
    yield chunk.subarray(0, bytesRead);
    const isFirst = position < FIRST_BYTES && position + bytesRead >= FIRST_BYTES;
    position += bytesRead;
    if (isFirst && pauseLength > 0) await pause(pauseLength, signal);
  }
}
