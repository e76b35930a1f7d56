/** The origin behind the worker. It records what arrives, and responds with internal fields. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import type { Field } from "../../support/http/exchange.js";
import { pairsOf } from "../../support/http/fields.js";
import { closed, listening } from "../../support/http/listen.js";
import type { Fields } from "./fields.js";

/** The response of the origin to a request. */
export interface Answer {
  readonly status: number;
  readonly fields: Fields;
  /** Whether the origin closes the connection in the middle of the body. */
  readonly isCut: boolean;
}

/** A request as it arrived. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly Field[];
}

/** The field that identifies a request. It is not internal. */
export const NUMBER = "x-number";

/** The field that marks responses of the origin. */
export const ANSWERED = "x-answered";

const BODY = "the origin's ".repeat(100);

export class SiteOrigin {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #expected = new Map<string, { answer: Answer; arrival?: Arrival }>();
  /** Requests that were not expected. */
  readonly unexpected: string[] = [];

  constructor() {
    // The worker reuses connections: none may close just as it is used again.
    this.#server.keepAliveTimeout = 600_000;
  }

  listen(): Promise<URL> {
    return listening(this.#server);
  }

  close(): Promise<void> {
    return closed(this.#server);
  }

  /** Expects a request, which need not arrive. */
  expectRequest(number: string, answer: Answer): void {
    this.#expected.set(number, { answer });
  }

  /** Returns the request if it arrived, and forgets it. */
  takeArrival(number: string): Arrival | undefined {
    const arrival = this.#expected.get(number)?.arrival;
    this.#expected.delete(number);
    return arrival;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, rawHeaders } = request;
    request.resume();
    const expected = this.#expected.get(`${headers[NUMBER]}`);
    if (expected === undefined) {
      this.unexpected.push(`${method} ${url}`);
      response.writeHead(500).end();
      return;
    }
    expected.arrival = { method, path: url, fields: pairsOf(rawHeaders) };
    const { status, fields, isCut } = expected.answer;
    response.writeHead(status, [ANSWERED, "1", ...fields.all.flat()]);
    if (isCut) response.write(BODY, () => response.destroy());
    else response.end(BODY);
  }
}
