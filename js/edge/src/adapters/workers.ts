/** A wrapper of handlers for Workers-style deployments: `hedgerow/workers`. */
import "../entries/instance.js";
import { HedgerowError } from "../error.js";
import { answerNotFound } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { strippedRequest, strippedResponse } from "./messages.js";
import { badRequest, isRefused } from "./refusal.js";

export * from "../entries/requests.js";
export type { HeaderRules } from "./adapter.js";

/** What the wrapper is made with. */
export interface WorkersOptions extends AdapterOptions<Request> {
  /** The answer to a request for what does not exist (default: 404 with a line of text). */
  notFound?: (request: Request) => Response | Promise<Response>;
}

/** What a worker exports: `fetch`, and whatever else it handles. */
export interface WorkersHandler {
  /** Answers a request. */
  fetch(request: never, env: never, context: never): unknown;
}

/** What handles requests once they are stripped and guarded. */
export interface FetchHandler {
  /** Answers a request. */
  fetch(request: Request, ...rest: unknown[]): Promise<Response>;
}

/**
 * Wraps what a worker exports: `fetch` gets requests without `headers`, and what it answers goes out
 * without them; where `paths` say that nothing exists, it is not called, and 404 is answered. All else
 * that the handler has stays as it is.
 *
 * @param handler (default: one that fetches what was asked for, as a route in front of an origin does)
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
 *
 * @example
 * ```ts
 * import { hedgerow } from "hedgerow/workers";
 *
 * export default hedgerow(
 *   { headers: ["x-internal-*"] },
 *   { fetch: async (request: Request) => new Response(request.headers.get("x-internal-user")) },
 * );
 * ```
 */
export function hedgerow<Handler extends WorkersHandler = FetchHandler>(
  options: WorkersOptions,
  handler: Handler | FetchHandler = { fetch: (request: Request) => fetch(request) },
): Omit<Handler, "fetch"> & FetchHandler {
  const { requests, responses, passes } = readOptions("hedgerow/workers", options, ["notFound"]);
  const { notFound = answerNotFound } = options;
  const inner = handler as FetchHandler;
  if (typeof inner?.fetch !== "function") {
    const message = `hedgerow/workers: expected a handler with a function fetch, found ${typeof inner?.fetch}`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }

  async function guarded(request: Request, rest: unknown[]): Promise<Response> {
    let inbound = request;
    const strip = () => {
      if (requests !== undefined) inbound = strippedRequest(requests, request);
    };
    if (isRefused(strip)) return badRequest();
    const exists = passes?.(inbound.method, inbound.url, inbound) ?? true;
    return exists === true || (await exists) ? inner.fetch(inbound, ...rest) : notFound(inbound);
  }

  async function fetchThrough(request: Request, ...rest: unknown[]): Promise<Response> {
    const response = await guarded(request, rest);
    return responses === undefined ? response : strippedResponse(responses, response);
  }

  return { ...bound(inner as Handler & FetchHandler), fetch: fetchThrough };
}

/** All that a handler has, of its class too, as functions that are called for it. */
function bound<Handler extends object>(handler: Handler): Handler {
  const own = { ...handler };
  for (let each = handler; each !== Object.prototype && each !== null; ) {
    for (const name of Object.getOwnPropertyNames(each) as (keyof Handler)[]) {
      const value = handler[name];
      if (name !== "constructor" && typeof value === "function") own[name] = value.bind(handler);
    }
    each = Object.getPrototypeOf(each);
  }
  return own;
}
