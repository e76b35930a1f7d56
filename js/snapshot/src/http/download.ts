import type { ClientRequest, IncomingMessage } from "node:http";
import { CleanCause, cleanFailure, RequestFailure, responseFailure } from "./failure.js";
import { onConnected, StepTimer } from "./step-timer.js";
import type { Transfer } from "./transfer.js";

/** How many bytes must arrive within `timeouts.stall`: fewer do not count as progress. */
const MIN_PROGRESS = 2 ** 12;

/**
 * How many bytes of a response a connection reads in one turn of the event loop. Without this limit, Node would read up to
 * 2 MiB of one connection while the others wait, and their TCP windows would stay small.
 */
const MAX_PER_TURN = 2 ** 19;

/** A `GET` request and its response, with a time limit for each step. */
export class Download {
  readonly #request: ClientRequest;
  readonly #timeouts: Transfer["timeouts"];
  readonly #proxyName: string | undefined;
  readonly #timer = new StepTimer((message) => this.#fail(new RequestFailure(message, true)));
  /** Rejects the pending promise: Node may emit nothing for a request that is destroyed already. */
  #reject: (error: unknown) => void = () => {};
  /** The first error, which may occur while nothing is pending. */
  #failure: { readonly error: unknown } | undefined;

  /** @param proxyName the proxy that the request is sent to, if any */
  constructor(request: ClientRequest, timeouts: Transfer["timeouts"], proxyName?: string) {
    this.#request = request;
    this.#proxyName = proxyName;
    this.#timeouts = timeouts;
  }

  /**
   * Sends the request, and returns the response when its headers are received.
   *
   * @throws {RequestFailure}
   */
  response(): Promise<IncomingMessage> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#timer.start(this.#timeouts.connect, "connection");
      onConnected(request, () => this.#timer.start(this.#timeouts.firstByte, "response"));
      request.once("response", (response) => {
        this.#timer.stop();
        resolve(Object.assign(response, { proxyName: this.#proxyName }));
      });
      request.once("upgrade", (response, socket) => {
        socket.destroy();
        this.#fail(responseFailure(response));
      });
      // This listener stays: an error after the headers is emitted here as well as on the response.
      request.on("error", (error) => this.#fail(error));
      request.once("close", () => this.#fail(connectionClosed()));
      request.end();
    });
  }

  /**
   * Passes the body to `take` as it is received. `take` must not keep the buffers.
   *
   * @throws {RequestFailure} and what `take` throws
   */
  body(response: IncomingMessage, take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#failure !== undefined) return reject(this.#failure.error);
      if (response.destroyed) return this.#fail(connectionClosed());
      this.#timer.start(this.#timeouts.stall, "progress");
      const length = Number(response.headers["content-length"]);
      let total = 0;
      let received = 0;
      let taken = 0;
      response.on("data", (bytes: Buffer) => {
        received += bytes.length;
        taken += bytes.length;
        total += bytes.length;
        // Do not delay the end of a response, which frees its connection.
        if (taken >= MAX_PER_TURN && total !== length) {
          taken = 0;
          response.pause();
          setImmediate(() => response.resume());
        }
        if (received >= MIN_PROGRESS) {
          received = 0;
          this.#timer.refresh();
        }
        try {
          take(bytes);
        } catch (error) {
          this.#fail(error);
        }
      });
      response.once("end", () => {
        this.#timer.stop();
        // A response without a length ends with its connection, and looks complete to Node.
        if (response.complete) resolve();
        else this.#fail(connectionClosed());
      });
      response.once("error", (error) => this.#fail(error));
      response.once("close", () => this.#fail(connectionClosed()));
    });
  }

  /**
   * Reads the body into `bytes`, which must be as long as the body.
   *
   * @throws {RequestFailure}
   */
  async fill(response: IncomingMessage, bytes: Uint8Array): Promise<void> {
    let filled = 0;
    await this.body(response, (part) => {
      if (part.length > bytes.length - filled) throw wrongLength(bytes.length, "more");
      bytes.set(part, filled);
      filled += part.length;
    });
    if (filled < bytes.length) throw wrongLength(bytes.length, String(filled));
  }

  /** Closes the connection, and rejects the pending promise. */
  cancel(): void {
    this.#fail(new RequestFailure("the request was cancelled", true));
  }

  #fail(error: unknown): void {
    this.#timer.stop();
    this.#failure ??= { error: cleanFailure(error) };
    this.#reject(this.#failure.error);
    this.#request.destroy();
  }
}

/** A closed connection, with the code that Node uses when it reports one itself. */
function connectionClosed(): RequestFailure {
  const message = "the connection was closed";
  const cause = Object.assign(new Error(message), { code: "ECONNRESET" });
  return new RequestFailure(message, true, { cause: new CleanCause(cause) });
}

function wrongLength(expected: number, found: string): RequestFailure {
  return new RequestFailure(`expected ${expected} bytes, found ${found}`, true);
}
