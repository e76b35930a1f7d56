import type { FileHandle } from "node:fs/promises";
import http, { type Agent, type ClientRequest } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";

import { pause } from "../../abort.js";
import type { Transfer } from "../../options/transfer-options.js";
import { agentFor } from "../agent.js";
import { onConnected } from "../connected.js";
import { type ProxyFields, proxyFields } from "../proxy.js";
import type { ResponseHead } from "../request-failure.js";
import type { ServerRequest } from "../server-request.js";
import { StepTimer } from "../step-timer.js";

/** The head of a response to an upload. Its body is ignored. */
export interface UploadResponse extends ResponseHead {
  readonly statusCode: number;
}

/** An open file to upload. */
export interface UploadFile {
  readonly handle: FileHandle;
  readonly size: number;
}

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

/** How a file is sent. */
export interface SendHow {
  /**
   * Whether to pause after the first bytes. A server that refuses an upload may close the connection before it has read
   * everything; a client that keeps sending then loses the response.
   */
  readonly isCareful: boolean;
  /** Whether to send `Expect: 100-continue`. */
  readonly asksFirst: boolean;
  /** How long the response may take after the last byte was sent, in milliseconds. */
  readonly answer: number;
}

/**
 * Uploads a file with one `PUT`, over a new connection.
 *
 * @throws the system's errors, or the signal's reason
 */
export function sendFile(
  request: ServerRequest,
  file: UploadFile,
  { isCareful, asksFirst, answer }: SendHow,
  timeouts: Transfer["timeouts"],
  signal: AbortSignal | undefined,
): Promise<UploadResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const agent = agentFor(request.url.protocol, {
      ...{ keepAlive: false, connectTimeout: timeouts.connect },
    });
    const fields = proxyFields(request.url);
    const client = createPut(request, file.size, asksFirst, fields, agent);
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
    let [isStarted, sent] = [false, 0];
    const abort = () => {
      // A server discards an upload without its last bytes; if they were sent, only its response can tell.
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
      if (!client.hasHeader("expect")) return sendBody();
      timer.stop();
      continueTimer = setTimeout(sendBody, CONTINUE_TIMEOUT);
    });
    client.once("continue", sendBody);
    client.once("finish", () => {
      timer.start(signal?.aborted ? GRACE : answer, "response");
    });
    body.once("error", fail);
    client.on("error", fail);
    client.once("close", () => fail(systemError("ECONNRESET", "the connection was closed")));
    client.once("response", ({ statusCode = 0, headers }) => {
      const done = () =>
        settle(() => resolve({ statusCode, headers, proxyName: fields.proxyName }));
      // A server that accepts the file has all of it, though Node may not have heard so from the system yet.
      if (statusCode < 200 || statusCode >= 300 || client.writableFinished) done();
      else client.once("finish", done);
    });
  });
}

function createPut(
  { url, secret, condition }: ServerRequest,
  size: number,
  expects: boolean,
  { path, headers: proxyHeaders }: ProxyFields,
  agent: Agent,
): ClientRequest {
  const headers = {
    ...secret,
    ...condition,
    ...proxyHeaders,
    "content-length": size,
    ...(expects ? { expect: "100-continue" } : {}),
  };
  const { request } = url.protocol === "https:" ? https : http;
  return request(url, { method: "PUT", headers, agent, ...(path === undefined ? {} : { path }) });
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
