import { HedgerowError, wrongType } from "../error.js";
import { checkOptions, FUNCTION } from "../options.js";
import { PATH_CHECK_TYPES, type PathCheckOptions, pathCheck } from "./path-check.js";

/** Options of `guardPaths`. */
export interface PathGuardOptions extends PathCheckOptions<Request> {
  /** Answers a request whose path does not exist. Default: 404 with the text `Not Found`. */
  notFound?: (request: Request) => Response | Promise<Response>;
}

/** Returns the response to a request whose path cannot exist, and `undefined` for all other requests. */
export type PathGuard = (request: Request) => Promise<Response | undefined>;

/**
 * Creates a guard that answers requests for paths that certainly do not exist with 404, before they reach
 * storage. All other requests pass, including when the paths cannot be checked. Errors that `notFound` and
 * `onError` throw propagate.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type
 *
 * @example
 * ```ts
 * import { guardPaths, PathSet } from "hedgerow";
 *
 * const guard = guardPaths({ paths: new PathSet(["/", "/about"]) });
 * const handler = async (request: Request) => (await guard(request)) ?? fetch(request);
 * ```
 */
export function guardPaths(options: PathGuardOptions): PathGuard {
  checkOptions("guardPaths", options, { ...PATH_CHECK_TYPES, notFound: FUNCTION });
  if (options.paths === undefined) {
    throw new HedgerowError("ERR_OPTIONS", "guardPaths: expected paths, found none");
  }
  const { notFound = answerNotFound } = options;
  const passes = pathCheck(options);

  return async function guard(request) {
    if (typeof request?.method !== "string" || typeof request.url !== "string") {
      throw wrongType("a Request", request);
    }
    if (await passes(request.method, request.url, request)) return undefined;
    return notFound(request);
  };
}

/** Default text of a 404 response. */
export const NOT_FOUND = "Not Found\n";

/** Returns the default 404 response. */
export function answerNotFound(request: Request): Response {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(request.method === "HEAD" ? null : NOT_FOUND, { status: 404, headers });
}
