/** `hedgerow/workers`: a wrapper for the handlers of Workers-style deployments. */
import { HedgerowError } from "../error.js";
import { answerNotFound } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { badRequest, strippedRequest, strippedResponse } from "./fetch-messages.js";

export * from "../entries/requests.js";
export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";

/** Options of the wrapper. */
export interface WorkersOptions extends AdapterOptions<Request> {
  /** Answers a request whose path does not exist. Default: 404 with the text `Not Found`. */
  notFound?: (request: Request) => Response | Promise<Response>;
}

/** The handler that a worker exports: `fetch`, and handlers of other events. */
export interface WorkersHandler {
  /** Returns the response to a request. */
  fetch(request: never, env: never, context: never): unknown;
}

/** A handler that receives stripped requests whose path may exist. */
export interface FetchHandler {
  /** Returns the response to a request. */
  fetch(request: Request, ...rest: unknown[]): Promise<Response>;
}

/**
 * Wraps the handler that a worker exports: strips `headers` from the requests that `fetch` receives and from
 * the responses it returns, and answers requests whose path does not exist with 404. The handlers of other
 * events are kept.
 *
 * @param handler the worker's own handler. Default: `fetch` requests the origin
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
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
  const { responses, passes, isDryRun, refusalOf } = readOptions("hedgerow/workers", options, [
    "notFound",
  ]);
  const { notFound = answerNotFound } = options;
  const inner = handler as FetchHandler;
  if (typeof inner?.fetch !== "function") {
    const message = `hedgerow/workers: expected a handler with a function fetch, found ${typeof inner?.fetch}`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }

  async function guarded(request: Request, rest: unknown[]): Promise<Response> {
    let inbound = request;
    const refusal = refusalOf(request, (requests) => {
      inbound = strippedRequest(requests, request);
    });
    const isBad = refusal !== undefined;
    if (isBad && !isDryRun) return badRequest();
    const exists = isBad || (passes?.(inbound.method, inbound.url, inbound) ?? true);
    return exists === true || (await exists) ? inner.fetch(inbound, ...rest) : notFound(inbound);
  }

  async function fetchThrough(request: Request, ...rest: unknown[]): Promise<Response> {
    const response = await guarded(request, rest);
    return responses === undefined ? response : strippedResponse(responses, response);
  }

  return { ...bound(inner as Handler & FetchHandler), fetch: fetchThrough };
}

/** Copies a handler. Its methods, including inherited ones, are bound to it. */
function bound<Handler extends object>(handler: Handler): Handler {
  const own = { ...handler };
  for (let level = handler; level !== Object.prototype && level !== null; ) {
    for (const name of Object.getOwnPropertyNames(level) as (keyof Handler)[]) {
      const value = handler[name];
      if (name !== "constructor" && typeof value === "function") own[name] = value.bind(handler);
    }
    level = Object.getPrototypeOf(level);
  }
  return own;
}
