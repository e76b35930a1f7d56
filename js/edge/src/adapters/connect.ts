/** Middleware for Connect, Express and Node's own servers: `hedgerow/connect`. */
import type { IncomingMessage, ServerResponse } from "node:http";

import "../entries/instance.js";
import { NOT_FOUND } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { stripRequest, stripResponse } from "./node-messages.js";
import { answerBadRequest, isRefused } from "./refusal.js";

export type { HeaderRules } from "./adapter.js";
export { stripRequest, stripResponse };

/** What the middleware is made with. */
export interface ConnectOptions extends AdapterOptions<IncomingMessage> {
  /** Answers a request for what does not exist (default: 404 with a line of text). */
  notFound?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** What Connect and Express call with each request. */
export type ConnectMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Strips `headers` from requests before other middleware sees them, and from responses when they are
 * sent, whoever set them; answers 404 where `paths` say that nothing exists. A request whose `Connection`
 * nominates a field for all recipients is answered 400, and its connection is closed.
 *
 * Upgrades do not go through middleware: see {@link stripRequest}.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
 *
 * @example
 * ```ts
 * import express from "express";
 * import { hedgerow } from "hedgerow/connect";
 *
 * const app = express();
 * app.use(hedgerow({ headers: ["x-internal-*", "x-powered-by"] }));
 * ```
 */
export function hedgerow(options: ConnectOptions): ConnectMiddleware {
  const { requests, responses, passes } = readOptions("hedgerow/connect", options, ["notFound"]);
  const { notFound = answerNotFound } = options;

  return function hedgerow(request, response, next) {
    if (responses !== undefined) stripResponse(responses, response);
    if (requests !== undefined && isRefused(() => stripRequest(requests, request))) {
      return answerBadRequest(response);
    }
    if (passes === undefined) return next();
    const answer = passes(request.method!, targetOf(request), request);
    if (answer === true) return next();
    if (answer === false) return notFound(request, response);
    answer
      .then((exists) => {
        if (!exists) notFound(request, response);
        return exists;
      })
      // What `next` throws is not told to `next` once more.
      .then((exists) => exists && next(), next);
  };
}

/** What was asked for: below a mount point, frameworks cut its path off the `url`. */
function targetOf(request: IncomingMessage & { originalUrl?: string }): string {
  return request.originalUrl ?? request.url!;
}

function answerNotFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
  response.end(NOT_FOUND);
}
