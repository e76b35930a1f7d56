import type { Connection, Receiver } from "./connection.js";
import { cleanFailure, RequestFailure, type ResponseHead } from "./failure.js";
import { StepTimer } from "./step-timer.js";
import type { Transfer } from "./transfer.js";

/** How many bytes must arrive within `timeouts.stall`: fewer do not count as progress. */
const MIN_PROGRESS = 2 ** 12;

/** A `GET` request and its response, with a time limit for each step. */
export class Download implements Receiver {
  readonly #connection: Connection;
  readonly #request: string;
  readonly #timeouts: Transfer["timeouts"];
  readonly #proxyName: string | undefined;
  readonly #timer = new StepTimer((message) => this.fail(new RequestFailure(message, true)));
  /** Passes on the response. */
  #use: (response: ResponseHead) => void = () => {};
  #take: ((bytes: Buffer) => void) | undefined;
  #received = 0;
  #isComplete = false;
  #resolve: () => void = () => {};
  /** Rejects the pending promise. */
  #reject: (error: unknown) => void = () => {};
  /** The first error, which may occur while nothing is pending. */
  #failure: { readonly error: unknown } | undefined;

  /** @param proxyName the proxy that the request is sent to, if any */
  constructor(
    connection: Connection,
    request: string,
    timeouts: Transfer["timeouts"],
    proxyName: string | undefined,
  ) {
    this.#connection = connection;
    this.#request = request;
    this.#timeouts = timeouts;
    this.#proxyName = proxyName;
  }

  /**
   * Sends the request, and passes the response to `use` when its head is received. `use` calls `body` or `fill` at
   * once: a body that nobody takes is not received.
   *
   * @throws {RequestFailure} and what `use` throws
   */
  response<T>(use: (response: ResponseHead) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#failure !== undefined) return reject(this.#failure.error);
      this.#use = (response) => resolve(use(response));
      this.#timer.start(this.#timeouts.connect, "connection");
      this.#connection.send(this.#request, this);
    });
  }

  /**
   * Passes the body to `take` as it is received. `take` must not keep the buffers.
   *
   * @throws {RequestFailure} and what `take` throws
   */
  body(take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
      if (this.#failure !== undefined) return reject(this.#failure.error);
      this.#take = take;
      this.#timer.start(this.#timeouts.stall, "progress");
    });
  }

  /**
   * Receives the body into `bytes`, which must be as long as the body.
   *
   * @throws {RequestFailure}
   */
  async fill(bytes: Uint8Array): Promise<void> {
    let filled = 0;
    await this.body((part) => {
      if (part.length > bytes.length - filled) throw wrongLength(bytes.length, "more");
      bytes.set(part, filled);
      filled += part.length;
    });
    if (filled < bytes.length) throw wrongLength(bytes.length, String(filled));
  }

  /** Closes the connection, unless the response is complete, and rejects the pending promise. */
  cancel(): void {
    this.fail(new RequestFailure("the request was cancelled", true));
  }

  connected(): void {
    this.#timer.start(this.#timeouts.firstByte, "response");
  }

  head(response: ResponseHead): void {
    this.#timer.stop();
    const encoding = encodingOf(response);
    if (encoding !== undefined) this.fail(encoded(encoding));
    else this.#use({ ...response, proxyName: this.#proxyName });
    if (this.#take === undefined) this.cancel();
  }

  bytes(bytes: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#received += bytes.length;
    if (this.#received >= MIN_PROGRESS) {
      this.#received = 0;
      this.#timer.refresh();
    }
    this.#take?.(bytes);
  }

  end(): void {
    this.#isComplete = true;
    this.#timer.stop();
    this.#resolve();
  }

  fail(error: unknown): void {
    // The connection may carry another request now.
    if (this.#isComplete) return;
    this.#timer.stop();
    this.#failure ??= { error: cleanFailure(error) };
    this.#reject(this.#failure.error);
    this.#connection.close();
  }
}

/** Encodings that leave the bytes as they are. Some clients of S3 label what they upload with the second. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "aws-chunked"]);

/** Returns how the body of a response is encoded, if it is. The bodies of errors are not read. */
function encodingOf({ statusCode, headers }: ResponseHead): string | undefined {
  if (statusCode !== 200 && statusCode !== 206) return undefined;
  const encodings = (headers["content-encoding"] ?? "").toLowerCase().split(",");
  return encodings.map((each) => each.trim()).find((each) => !PLAIN.has(each));
}

/** A retry would meet the same proxy. */
function encoded(encoding: string): RequestFailure {
  // Other text could be a secret that a server repeats.
  const name = /^[a-z]{1,10}$/.test(encoding) ? encoding : "another format";
  const message = `the response is encoded as ${name}, which was not asked for: neither a proxy on the way nor the metadata of the object may set Content-Encoding`;
  return new RequestFailure(message, false);
}

function wrongLength(expected: number, found: string): RequestFailure {
  return new RequestFailure(`expected ${expected} bytes, found ${found}`, true);
}
