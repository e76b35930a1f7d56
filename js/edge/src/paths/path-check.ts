/** Checks whether the path of a request may exist, for any type of request. */
import { FUNCTION, type OptionType, STRINGS } from "../options.js";
import { normalizePath } from "./normalize-path.js";
import { canExist, isLookup, type PathLookup } from "./path-lookup.js";

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

/** Returns the part of a URL after the host; all of it if there is none, as in a request line. */
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
