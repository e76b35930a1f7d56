import type { FileHandle } from "node:fs/promises";
import http, { type ClientRequest, type IncomingHttpHeaders } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { Readable } from "node:stream";

import { pause } from "../../abort.js";
import type { Transfer } from "../../options/transfer-options.js";
import type { ServerRequest } from "../server-request.js";

/** What a server answered. Nothing of its body is of interest. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** A file that is open. */
export interface Sendable {
  readonly handle: FileHandle;
  readonly size: number;
}

/** What a server that is listened to gets first, in bytes. Many read 256 KiB before they answer. */
const FIRST = 2 ** 19;

/** How long it is listened to at most, in milliseconds. */
const LISTENING = 500;

/** What a server is asked first for, in bytes: whether it wants so much. As much as curl asks for. */
const ASKED = 2 ** 20;

/** How much of a file is read at a time, in bytes. */
const CHUNK = 2 ** 18;

/** How long a server that was asked is waited for, in milliseconds: some know nothing of the question. */
const ASKING = 1_000;

/** How long the answer is awaited after an abort, if all was sent, in milliseconds. */
const GRACE = 5_000;

/**
 * Sends a file once, on a connection of its own.
 *
 * @param isWary whether the server is listened to before more than the first bytes are sent. One that
 *   refuses may close before it has read all, and what it answered is lost to whoever goes on sending.
 * @throws what the system says, or the signal's reason
 */
export function sendFile(
  request: ServerRequest,
  content: Sendable,
  isWary: boolean,
  timeouts: Transfer["timeouts"],
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const client = clientOf(request, content.size);
    const ended = new AbortController();
    const listening = isWary ? Math.min(LISTENING, timeouts.stall / 2) : 0;
    const body = Readable.from(chunksOf(content, listening, ended.signal));
    const limit = new Limit((error) => client.destroy(error));
    let asking: NodeJS.Timeout | undefined;
    const settle = (act: () => void) => {
      limit.clear();
      clearTimeout(asking);
      signal?.removeEventListener("abort", abort);
      body.destroy();
      ended.abort();
      client.destroy();
      act();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    let [isSent, sent] = [false, 0];
    const abort = () => {
      // Without its last bytes, the server takes no notice of it.
      if (isSent && sent === content.size) limit.set(GRACE, "answer");
      else fail(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });

    const send = () => {
      if (isSent) return;
      isSent = true;
      limit.set(timeouts.stall, "progress");
      body.on("data", (chunk: Uint8Array) => {
        sent += chunk.length;
        limit.set(timeouts.stall, "progress");
      });
      body.pipe(client);
    };
    limit.set(timeouts.connect, "connection");
    const asks = client.hasHeader("expect");
    onConnection(client, () => {
      if (!asks) return send();
      limit.clear();
      asking = setTimeout(send, ASKING);
    });
    client.once("continue", send);
    client.once("finish", () => limit.set(signal?.aborted ? GRACE : timeouts.firstByte, "answer"));
    body.once("error", fail);
    client.on("error", fail);
    client.once("close", () => fail(failure("ECONNRESET", "the connection was closed")));
    client.once("response", ({ statusCode = 0, headers }) => {
      const done = () => settle(() => resolve({ status: statusCode, headers }));
      // Who is content has all of it: the system may only not have said yet that it was sent.
      if (statusCode < 200 || statusCode >= 300 || client.writableFinished) done();
      else client.once("finish", done);
    });
  });
}

function clientOf({ url, secret, condition }: ServerRequest, size: number): ClientRequest {
  const headers = {
    ...secret,
    ...condition,
    "content-length": size,
    ...(size > ASKED ? { expect: "100-continue" } : {}),
  };
  const { request } = url.protocol === "https:" ? https : http;
  return request(url, { method: "PUT", headers, agent: false });
}

/** Calls when there is a connection, TLS included. */
function onConnection(client: ClientRequest, act: () => void): void {
  const event = client.protocol === "https:" ? "secureConnect" : "connect";
  client.once("socket", (socket: Socket) => socket.once(event, act));
}

/** Ends what takes too long. */
class Limit {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly fail: (error: Error) => void) {}

  /** Lets what comes next take so long, instead of what was to come. */
  set(milliseconds: number, what: string): void {
    this.clear();
    const fail = () => this.fail(failure("ETIMEDOUT", `no ${what} within ${milliseconds} ms`));
    this.#timer = setTimeout(fail, milliseconds);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Reads a file whose handle knows that it is read: it closes only after that.
 *
 * @param listening how long to wait after the first bytes, in milliseconds
 */
async function* chunksOf(
  { handle, size }: Sendable,
  listening: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, size - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error(`expected ${size} bytes, found ${position}`);
    yield chunk.subarray(0, bytesRead);
    const isFirst = position < FIRST && position + bytesRead >= FIRST;
    position += bytesRead;
    if (isFirst && listening > 0) await pause(listening, signal);
  }
}
