/** Asks of a request whether its path may exist: what every guard does, whatever its requests are. */
import { FUNCTION, type Kind, STRINGS } from "../options.js";
import { normalizePath } from "./normalize-path.js";
import { canExist, isLookup, type PathLookup } from "./path-lookup.js";

/**
 * The paths that exist: a filter or a set, or a function that says of a normalised path whether it may
 * exist, as the `canExist` of a store does.
 */
export type Paths<Asked = Request> =
  | Pick<PathLookup, "has" | "wildcards">
  | ((path: string, request: Asked) => boolean | Promise<boolean>);

/** What is asked, and of which requests. */
export interface PathCheckOptions<Asked> {
  /** The paths that exist. */
  paths: Paths<Asked>;
  /** The methods that are guarded (default: GET and HEAD). */
  methods?: readonly string[];
  /** From the path, query and fragment of a URL to the key (default: {@link normalizePath}). */
  normalize?: (path: string) => string;
  /** Told of what asking threw; the request then passes (default: `console.error`). */
  onError?: (error: unknown, request: Asked) => void;
}

/** What {@link PathCheckOptions} has to be. */
export const PATH_CHECK_KINDS: Record<string, Kind> = {
  paths: [
    "a filter, a set or a function",
    (value) => typeof value === "function" || isLookup(value),
  ],
  methods: STRINGS,
  normalize: FUNCTION,
  onError: FUNCTION,
};

/** Whether a request passes. The answer is a promise only where that of `paths` is. */
export type PathCheck<Asked> = (
  method: string,
  url: string,
  request: Asked,
) => boolean | Promise<boolean>;

/** Makes a check of options that were looked at. What `onError` throws is thrown on. */
export function pathCheck<Asked>(options: PathCheckOptions<Asked>): PathCheck<Asked> {
  const { paths, methods = ["GET", "HEAD"], normalize = normalizePath, onError = report } = options;
  const guarded = methods.map((method) => method.toUpperCase());
  const mayExist = typeof paths === "function" ? paths : (path: string) => canExist(paths, path);

  return function passes(method, url, request) {
    if (!guarded.includes(method)) return true;
    const fails = (error: unknown) => {
      onError(error, request);
      return true;
    };
    let answer: boolean | Promise<boolean>;
    try {
      answer = mayExist(normalize(pathOf(url)), request);
    } catch (error) {
      return fails(error);
    }
    if (typeof answer !== "object" || answer === null) return answer !== false;
    return Promise.resolve(answer).then((exists) => exists !== false, fails);
  };
}

/** What follows the host in a URL; all of it where there is none, as in a request's first line. */
function pathOf(url: string): string {
  const scheme = url.startsWith("/") ? -1 : url.indexOf("://");
  if (scheme < 0) return url;
  const host = scheme + 3;
  const end = url.slice(host).search(/[/?#]/);
  return end < 0 ? "/" : url.slice(host + end);
}

function report(error: unknown): void {
  console.error("hedgerow: paths could not be checked; the request was let through:", error);
}
