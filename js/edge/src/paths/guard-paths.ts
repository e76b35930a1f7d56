import { HedgerowError, wrongType } from "../error.js";
import { checkOptions, FUNCTION } from "../options.js";
import { PATH_CHECK_KINDS, type PathCheckOptions, pathCheck } from "./path-check.js";

/** What a guard is made with. */
export interface PathGuardOptions extends PathCheckOptions<Request> {
  /** The answer to a request for what does not exist (default: 404 with a line of text). */
  notFound?: (request: Request) => Response | Promise<Response>;
}

/** Answers a request for a path that cannot exist; returns nothing for all others. */
export type PathGuard = (request: Request) => Promise<Response | undefined>;

/**
 * Makes a guard that answers 404 to requests for paths that certainly do not exist, before any
 * storage is asked. All others pass, and so does every request when the paths cannot be asked. What
 * `notFound` and `onError` throw is thrown on.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type
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
  checkOptions("guardPaths", options, { ...PATH_CHECK_KINDS, notFound: FUNCTION });
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

/** The text of the answer, where nothing else is asked for. */
export const NOT_FOUND = "Not Found\n";

/** The answer, where nothing else is asked for. */
export function answerNotFound(request: Request): Response {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(request.method === "HEAD" ? null : NOT_FOUND, { status: 404, headers });
}
