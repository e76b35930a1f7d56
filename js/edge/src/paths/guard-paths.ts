/** Whether the path of a request may exist: by lookups in filters and sets, for adapters, and as a guard. */
import {
  checkOptions,
  checkString,
  FUNCTION,
  HedgerowError,
  type OptionType,
  STRINGS,
  wrongType,
} from "../error.js";
import { normalizePath } from "./normalize-path.js";

/** A collection of paths: a filter or a set. */
export interface PathLookup {
  /** Returns whether a path is in the set, or may be in the filter. Does not normalise the path. */
  has(path: string): boolean;
  /**
   * Depth of the deepest wildcard key, as its number of slashes (2 for `/blog/*`); 0 if there are none, and
   * 64 for any depth of at least 64.
   */
  readonly wildcards: number;
  /** Size of the source it was read from, in bytes or characters. */
  readonly byteLength: number;
  /** Releases its memory. */
  free(): void;
}

/** Greatest depth reported; deeper wildcard keys count as this deep. */
export const MAX_WILDCARD_DEPTH = 64;

/**
 * Returns whether a path may exist: whether `lookup` has the path itself, or a wildcard key above it. The key
 * `/blog/*` covers `/blog/a` and `/blog/a/b`, but not `/blog`.
 *
 * @param path a path in the form that `normalizePath` returns
 * @throws {HedgerowError} `ERR_ARGUMENT` if an argument has the wrong type
 *
 * @example
 * ```ts
 * import { canExist, PathSet } from "hedgerow";
 *
 * const paths = new PathSet(["/", "/blog/*"]);
 * canExist(paths, "/blog/2026/hedges"); // true
 * canExist(paths, "/about"); // false
 * ```
 */
export function canExist(lookup: Pick<PathLookup, "has" | "wildcards">, path: string): boolean {
  if (!isLookup(lookup)) throw wrongType("a filter or a set", lookup);
  checkString("a path", path);
  if (lookup.has(path)) return true;
  // If the last segment is a literal asterisk, the key has it percent-encoded.
  if (path.endsWith("/*") && lookup.has(`${path.slice(0, -1)}%2A`)) return true;
  const { wildcards } = lookup;
  let depth = 0;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    // `wildcards` is capped: at the maximum, there may be deeper wildcard keys.
    if (depth === wildcards) return wildcards === MAX_WILDCARD_DEPTH;
    if (lookup.has(`${path.slice(0, slash)}/*`)) return true;
    depth += 1;
  }
  return false;
}

/** Returns whether a value has the methods of a lookup. */
export function isLookup(value: unknown): value is Pick<PathLookup, "has" | "wildcards"> {
  const { has, wildcards } = (value ?? {}) as Partial<PathLookup>;
  return typeof has === "function" && typeof wildcards === "number";
}

/**
 * The paths that exist: a filter, a set, or a function that returns `false` if a normalised path does not exist, such
 * as one that calls `canExist` of a `PathFilterStore`. Any other result lets the request pass.
 */
export type Paths<RequestType = Request> =
  | Pick<PathLookup, "has" | "wildcards">
  | ((path: string, request: RequestType) => boolean | Promise<boolean>);

/** Options that guards and adapters share. */
export interface PathCheckOptions<RequestType> {
  /** Paths that exist. All other paths are answered with 404. */
  paths: Paths<RequestType>;
  /** Methods to check; requests with other methods pass. Default: `["GET", "HEAD"]`. */
  methods?: readonly string[];
  /** Converts the path, query and fragment of a URL to the key to look up. Default: {@link normalizePath}. */
  normalize?: (path: string) => string;
  /** Receives the error of a failed check. The request then passes. Default: logs with `console.error`. */
  onError?: (error: unknown, request: RequestType) => void;
}

/** The types of {@link PathCheckOptions}. */
export const PATH_CHECK_TYPES: Record<string, OptionType> = {
  paths: [
    "a filter, a set or a function",
    (value) => typeof value === "function" || isLookup(value),
  ],
  methods: STRINGS,
  normalize: FUNCTION,
  onError: FUNCTION,
};

/** Returns whether a request passes; a promise only if `paths` returns one. */
export type PathCheck<RequestType> = (
  method: string,
  url: string,
  request: RequestType,
) => boolean | Promise<boolean>;

/**
 * Creates a check from validated options. Errors that `onError` throws propagate.
 *
 * @param decide returns whether the request passes, given whether its path may exist and the path as it was
 * looked up
 */
export function pathCheck<RequestType>(
  options: PathCheckOptions<RequestType>,
  decide = (exists: boolean, _path: string): boolean => exists,
): PathCheck<RequestType> {
  const {
    paths,
    methods = ["GET", "HEAD"],
    normalize = normalizePath,
    onError = logError,
  } = options;
  const checked = methods.map((method) => method.toUpperCase());
  const mayExist = typeof paths === "function" ? paths : (path: string) => canExist(paths, path);

  return function passes(method, url, request) {
    if (!checked.includes(method)) return true;
    const letPass = (error: unknown) => {
      onError(error, request);
      return true;
    };
    let path: string;
    let exists: boolean | Promise<boolean>;
    try {
      path = normalize(pathOf(url));
      exists = mayExist(path, request);
    } catch (error) {
      return letPass(error);
    }
    if (typeof exists !== "object" || exists === null) return decide(exists !== false, path);
    return Promise.resolve(exists).then((resolved) => decide(resolved !== false, path), letPass);
  };
}

/** Returns the part of a URL after the host; the whole URL if it has no host, as in a request line. */
function pathOf(url: string): string {
  const scheme = url.startsWith("/") ? -1 : url.indexOf("://");
  if (scheme < 0) return url;
  const host = scheme + 3;
  const end = url.slice(host).search(/[/?#]/);
  return end < 0 ? "/" : url.slice(host + end);
}

function logError(error: unknown): void {
  console.error("hedgerow: paths could not be checked; the request was let through:", error);
}

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
