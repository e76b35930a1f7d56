/** `hedgerow/hono`: middleware for Hono. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";

import { type Adapter, type AdapterOptions, readOptions, type Stripping } from "./adapter.js";
import { badRequest, strippedRequest, strippedResponse } from "./fetch-messages.js";
import { encodedTarget, stripIncoming, stripOutgoing } from "./node-messages.js";

export * from "../entries/requests.js";
export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";

/** Options of the middleware. */
export interface HonoOptions extends AdapterOptions<Context> {
  /** Answers a request whose path does not exist. Default: `c.notFound()`. */
  notFound?: (c: Context) => Response | Promise<Response>;
}

/**
 * Creates middleware that strips `headers`, and answers requests for paths that do not exist as if no route
 * matched. Register it first: it strips requests before later middleware and handlers see them, and strips
 * the responses that they return.
 *
 * On Node (`@hono/node-server`) it strips responses when they are sent, including fields that earlier
 * middleware adds.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
 *
 * @example
 * ```ts
 * import { Hono } from "hono";
 * import { hedgerow } from "hedgerow/hono";
 *
 * const app = new Hono();
 * app.use(hedgerow({ headers: ["x-internal-*"] }));
 * ```
 */
export function hedgerow(options: HonoOptions): MiddlewareHandler {
  const adapter = readOptions("hedgerow/hono", options, ["notFound"]);
  const { notFound = (c) => c.notFound() } = options;
  const { passes, isDryRun } = adapter;

  return async function hedgerow(c, next) {
    const { incoming, outgoing } = nodeMessages(c);
    const refusal = adapter.refusalOf(c, (requests) => stripInbound(requests, c, incoming));
    const isBad = refusal !== undefined;
    const responses = stripOutbound(adapter, outgoing);
    const exists = isBad || (passes?.(c.req.method, urlOf(c, incoming), c) ?? true);
    if (isBad && !isDryRun) {
      if (outgoing !== undefined) outgoing.shouldKeepAlive = false;
      c.res = badRequest();
    } else if (exists === true || (await exists)) {
      await next();
    } else {
      c.res = await notFound(c);
    }
    if (responses === undefined) return;
    const { res } = c;
    const stripped = strippedResponse(responses, res);
    if (stripped === res) return;
    // Reset first: Hono merges the fields of the previous response into a new one.
    c.res = undefined;
    c.res = stripped;
  };
}

/** Returns the URL, or the target of Node's request if it has bytes that Hono's server encodes once more. */
function urlOf(c: Context, incoming?: IncomingMessage): string {
  const target = incoming?.url ?? "";
  const encoded = encodedTarget(target);
  return encoded === target ? c.req.url : encoded;
}

/** Strips the request: Node's message if there is one, and `Headers` unless they are created from it later. */
function stripInbound(requests: Stripping, c: Context, incoming?: IncomingMessage): void {
  if (incoming === undefined) {
    c.req.raw = strippedRequest(requests, c.req.raw);
    return;
  }
  const removed = stripIncoming(requests, incoming);
  // `Headers` created earlier may still have the fields. `has` does not create any.
  if (!requests.isDryRun && removed.some((name) => c.req.raw.headers.has(name))) {
    c.req.raw = strippedRequest({ ...requests, note() {} }, c.req.raw);
  }
}

/** Strips Node's response if there is one. Returns the stripping that the returned response still needs. */
function stripOutbound({ responses }: Adapter<Context>, outgoing?: ServerResponse) {
  if (responses === undefined || outgoing === undefined) return responses;
  stripOutgoing(responses, outgoing);
  return undefined;
}

/**
 * Returns the messages of Hono's server for Node. Stripping these is cheaper, since the server creates
 * `Headers` only on demand.
 */
function nodeMessages({ env }: Context): { incoming?: IncomingMessage; outgoing?: ServerResponse } {
  const { incoming, outgoing } = env ?? {};
  const isNode = Array.isArray(incoming?.rawHeaders) && typeof outgoing?.writeHead === "function";
  return isNode ? { incoming, outgoing } : {};
}
