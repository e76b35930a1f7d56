import type { ClientRequest, IncomingMessage } from "node:http";

import type { Transfer } from "../../options/transfer-options.js";
import { CleanCause } from "../clean-cause.js";
import { Failure, failureOf, refused } from "../failure.js";

/** How much must come within the time of a stall, in bytes: a drip is no flow. */
const LEAST = 2 ** 12;

/** An answer that is on its way, each step of which has its time. */
export class Download {
  readonly #request: ClientRequest;
  readonly #timeouts: Transfer["timeouts"];
  #timer: NodeJS.Timeout | undefined;
  /** Fails what is waited for. Node may have nothing to say of a request that is destroyed already. */
  #reject: (error: unknown) => void = () => {};
  /** What went wrong first, which may be when nobody waits. */
  #failure: { readonly error: unknown } | undefined;

  constructor(request: ClientRequest, timeouts: Transfer["timeouts"]) {
    this.#request = request;
    this.#timeouts = timeouts;
  }

  /**
   * The beginning of the answer.
   *
   * @throws {Failure}
   */
  answer(): Promise<IncomingMessage> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#within("connect", "no connection");
      request.once("socket", (socket) => {
        const sent = () => this.#within("firstByte", "no answer");
        if (!socket.connecting) sent();
        else socket.once(this.#isSecure ? "secureConnect" : "connect", sent);
      });
      request.once("response", (response) => {
        clearTimeout(this.#timer);
        resolve(response);
      });
      request.once("upgrade", (response, socket) => {
        socket.destroy();
        this.#fail(refused(response));
      });
      // It stays: what fails later is told by the answer, and here a second time.
      request.on("error", (error) => this.#fail(error));
      request.once("close", () => this.#fail(closed()));
      request.end();
    });
  }

  /**
   * Has `take` take all bytes of the answer, as they come. It must not keep them.
   *
   * @throws {Failure} and what `take` throws
   */
  body(response: IncomingMessage, take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#failure !== undefined) return reject(this.#failure.error);
      if (response.destroyed) return this.#fail(closed());
      this.#within("stall", "no more bytes");
      let received = 0;
      response.on("data", (bytes: Buffer) => {
        received += bytes.length;
        if (received >= LEAST) {
          received = 0;
          this.#timer?.refresh();
        }
        try {
          take(bytes);
        } catch (error) {
          this.#fail(error);
        }
      });
      response.once("end", () => {
        clearTimeout(this.#timer);
        // An answer without a length ends with its connection, and looks whole.
        if (response.complete) resolve();
        else this.#fail(closed());
      });
      response.once("error", (error) => this.#fail(error));
      response.once("close", () => this.#fail(closed()));
    });
  }

  /**
   * Fills `bytes` with the answer, which must be as long.
   *
   * @throws {Failure}
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

  /** Wants no more. What waits for it fails. */
  cancel(): void {
    this.#fail(new Failure("it was given up", true));
  }

  get #isSecure(): boolean {
    return this.#request.protocol === "https:";
  }

  #within(step: keyof Transfer["timeouts"], what: string): void {
    clearTimeout(this.#timer);
    const milliseconds = this.#timeouts[step];
    const failure = new Failure(`${what} within ${milliseconds} ms`, true);
    this.#timer = setTimeout(() => this.#fail(failure), milliseconds);
  }

  #fail(error: unknown): void {
    clearTimeout(this.#timer);
    this.#failure ??= { error: failureOf(error) };
    this.#reject(this.#failure.error);
    this.#request.destroy();
  }
}

/** A connection that is gone, by what Node calls it, which not always says so itself. */
function closed(): Failure {
  const message = "the connection was closed";
  const cause = Object.assign(new Error(message), { code: "ECONNRESET" });
  return new Failure(message, true, { cause: new CleanCause(cause) });
}

function wrongLength(expected: number, found: string): Failure {
  return new Failure(`expected ${expected} bytes, found ${found}`, true);
}
