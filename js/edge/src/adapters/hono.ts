/** Middleware for Hono: `hedgerow/hono`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";

import "../entries/instance.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import { type Adapter, type AdapterOptions, readOptions } from "./adapter.js";
import { strippedRequest, strippedResponse } from "./messages.js";
import { stripIncoming, stripResponse } from "./node-messages.js";
import { badRequest, isRefused } from "./refusal.js";

export * from "../entries/requests.js";
export type { HeaderRules } from "./adapter.js";

/** What the middleware is made with. */
export interface HonoOptions extends AdapterOptions<Context> {
  /** The answer to a request for what does not exist (default: `c.notFound()`). */
  notFound?: (c: Context) => Response | Promise<Response>;
}

/**
 * Strips `headers` from requests before later middleware and handlers see them, and from what these
 * answer; answers as to an unknown route where `paths` say that nothing exists. Use it first.
 *
 * On Node (`@hono/node-server`) responses are stripped when they are sent, so that what earlier
 * middleware adds goes too.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
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
  const { passes } = adapter;

  return async function hedgerow(c, next) {
    const { incoming, outgoing } = nodeMessages(c);
    const isBad = isRefused(() => stripInbound(adapter, c, incoming));
    const responses = stripOutbound(adapter, outgoing);
    const exists = isBad || (passes?.(c.req.method, c.req.url, c) ?? true);
    if (isBad) {
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
    // Else the fields of the one before are added to it.
    c.res = undefined;
    c.res = stripped;
  };
}

/** Strips a request. */
function stripInbound({ requests }: Adapter<Context>, c: Context, incoming?: IncomingMessage) {
  if (requests !== undefined && !isStripped(requests, c, incoming)) {
    c.req.raw = strippedRequest(requests, c.req.raw);
  }
}

/** Strips Node's response, if there is one. Returns what is still to be stripped from the answer. */
function stripOutbound({ responses }: Adapter<Context>, outgoing?: ServerResponse) {
  if (responses === undefined || outgoing === undefined) return responses;
  stripResponse(responses, outgoing);
  return undefined;
}

/** Strips Node's message, if there is one. Returns whether there is nothing left to strip. */
function isStripped(requests: HeaderStripper, c: Context, incoming?: IncomingMessage): boolean {
  if (incoming === undefined) return false;
  // What went may still be in `Headers` that were made before; to ask for a name makes none.
  return !stripIncoming(requests, incoming).some((name) => c.req.raw.headers.has(name));
}

/**
 * What Hono's server for Node makes requests from and writes responses to. To strip these costs less:
 * they are not made into `Headers` unless somebody asks.
 */
function nodeMessages({ env }: Context): { incoming?: IncomingMessage; outgoing?: ServerResponse } {
  const { incoming, outgoing } = env ?? {};
  const isNode = Array.isArray(incoming?.rawHeaders) && typeof outgoing?.writeHead === "function";
  return isNode ? { incoming, outgoing } : {};
}
