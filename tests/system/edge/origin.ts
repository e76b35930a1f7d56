/** The origin behind the worker: it says what arrived, and answers with fields that must not leave. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import type { Field } from "../../support/http/exchange.js";
import { pairsOf } from "../../support/http/fields.js";
import { closed, listening } from "../../support/http/listen.js";
import type { Fields } from "./fields.js";

/** What an origin does with a request. */
export interface Answer {
  readonly status: number;
  readonly fields: Fields;
  /** Whether the connection is lost in the middle of the answer. */
  readonly isCut: boolean;
}

/** A request as it arrived. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly Field[];
}

/** The field by which a request says which one it is. It is not internal. */
export const NUMBER = "x-number";

/** The field by which it is known that an answer is the origin's, and not the worker's own. */
export const ANSWERED = "x-answered";

const BODY = "the origin's ".repeat(100);

export class SiteOrigin {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #awaited = new Map<string, { answer: Answer; arrival?: Arrival }>();
  /** Requests that nobody sent. */
  readonly strangers: string[] = [];

  constructor() {
    // The worker keeps connections: none shall end just when it is used again.
    this.#server.keepAliveTimeout = 600_000;
  }

  listen(): Promise<URL> {
    return listening(this.#server);
  }

  close(): Promise<void> {
    return closed(this.#server);
  }

  /** Awaits a request. It need not come. */
  awaits(number: string, answer: Answer): void {
    this.#awaited.set(number, { answer });
  }

  /** The request as it arrived, if it did. It is awaited no more. */
  arrived(number: string): Arrival | undefined {
    const arrival = this.#awaited.get(number)?.arrival;
    this.#awaited.delete(number);
    return arrival;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, rawHeaders } = request;
    request.resume();
    const awaited = this.#awaited.get(`${headers[NUMBER]}`);
    if (awaited === undefined) {
      this.strangers.push(`${method} ${url}`);
      response.writeHead(500).end();
      return;
    }
    awaited.arrival = { method, path: url, fields: pairsOf(rawHeaders) };
    const { status, fields, isCut } = awaited.answer;
    response.writeHead(status, [ANSWERED, "1", ...fields.all.flat()]);
    if (isCut) response.write(BODY, () => response.destroy());
    else response.end(BODY);
  }
}
