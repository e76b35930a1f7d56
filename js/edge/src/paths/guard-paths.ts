import { normalizePath } from "./normalize-path.js";
import { canExist, type PathLookup } from "./path-lookup.js";

/** What a guard is made with. */
export interface PathGuardOptions {
  /**
   * The paths that exist: a filter or a set, or a function that says of a normalised path whether it
   * may exist, as the `canExist` of a store does.
   */
  paths:
    | Pick<PathLookup, "has" | "wildcards">
    | ((path: string, request: Request) => boolean | Promise<boolean>);
  /** The methods that are guarded (default: GET and HEAD). */
  methods?: readonly string[];
  /** From the path, query and fragment of a URL to the key (default: {@link normalizePath}). */
  normalize?: (path: string) => string;
  /** The answer to a request for what does not exist (default: 404 with a line of text). */
  notFound?: (request: Request) => Response | Promise<Response>;
  /** Told of what asking threw; the request then passes (default: `console.error`). */
  onError?: (error: unknown, request: Request) => void;
}

/** Answers a request for a path that cannot exist; returns nothing for all others. */
export type PathGuard = (request: Request) => Promise<Response | undefined>;

/**
 * Makes a guard that answers 404 to requests for paths that certainly do not exist, before any
 * storage is asked. All others pass, and so does every request when the paths cannot be asked. What
 * `notFound` and `onError` throw is thrown on.
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
  const { paths, methods = ["GET", "HEAD"], normalize = normalizePath } = options;
  const { notFound = answerNotFound, onError = report } = options;
  const mayExist = typeof paths === "function" ? paths : (path: string) => canExist(paths, path);

  return async function guard(request) {
    if (!methods.includes(request.method)) return undefined;
    let passes = true;
    try {
      passes = (await mayExist(normalize(pathOf(request.url)), request)) !== false;
    } catch (error) {
      onError(error, request);
    }
    return passes ? undefined : notFound(request);
  };
}

/** What follows the host in the URL of a request, which is always absolute. */
function pathOf(url: string): string {
  const host = url.indexOf("://") + 3;
  const end = url.slice(host).search(/[/?#]/);
  return end < 0 ? "/" : url.slice(host + end);
}

function answerNotFound(request: Request): Response {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(request.method === "HEAD" ? null : "Not Found\n", { status: 404, headers });
}

function report(error: unknown): void {
  console.error("hedgerow: a request passed without being checked:", error);
}
