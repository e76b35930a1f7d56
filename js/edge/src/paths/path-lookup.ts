import { checkString, wrongType } from "../error.js";

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
