/** `hedgerow/connect`: middleware for Connect, Express and Node's own servers. */
import type { IncomingMessage, ServerResponse } from "node:http";

import { NOT_FOUND } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import {
  encodedTarget,
  sendBadRequest,
  stripIncoming,
  stripOutgoing,
  stripRequest,
  stripResponse,
} from "./node-messages.js";

export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";
export { stripRequest, stripResponse };

/** Options of the middleware. */
export interface ConnectOptions extends AdapterOptions<IncomingMessage> {
  /** Answers a request whose path does not exist. Default: 404 with the text `Not Found`. */
  notFound?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Middleware as Connect and Express call it. */
export type ConnectMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Creates middleware that strips `headers` and answers requests whose path does not exist with 404.
 *
 * Requests are stripped before later middleware sees them, responses when their head is sent. If a rule matches
 * `connection`, a request whose `Connection` nominates a field meant for all recipients is answered with 400, and
 * its connection is closed. Upgrades bypass middleware: use {@link stripRequest} for them.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
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
  const { responses, passes, isDryRun, refusalOf } = readOptions("hedgerow/connect", options, [
    "notFound",
  ]);
  const { notFound = sendNotFound } = options;

  return function hedgerow(request, response, next) {
    if (responses !== undefined) stripOutgoing(responses, response);
    if (refusalOf(request, (requests) => stripIncoming(requests, request)) !== undefined) {
      return isDryRun ? next() : sendBadRequest(response);
    }
    if (passes === undefined) return next();
    const exists = passes(request.method!, targetOf(request), request);
    if (exists === true) return next();
    if (exists === false) return notFound(request, response);
    exists
      .then((resolved) => {
        if (!resolved) notFound(request, response);
        return resolved;
      })
      // In this order, so that `next` does not receive its own errors.
      .then((resolved) => resolved && next(), next);
  };
}

/** Returns the request target. Frameworks remove the path of a mount point from `url`. */
function targetOf(request: IncomingMessage & { originalUrl?: string }): string {
  return encodedTarget(request.originalUrl ?? request.url!);
}

function sendNotFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
  response.end(NOT_FOUND);
}
