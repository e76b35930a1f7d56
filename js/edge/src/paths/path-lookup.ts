import { checkString, wrongType } from "../error.js";

/** What can be asked for paths: a filter, or a set. */
export interface PathLookup {
  /** Whether a path is in it, or, of a filter, may be. Paths are compared as they are. */
  has(path: string): boolean;
  /**
   * The depth of its deepest wildcard key (`/blog/*` has 2), as the number of its slashes; 0 if it has
   * none. 64 stands for any depth from there on.
   */
  readonly wildcards: number;
  /** The length of what it was read from, in bytes or characters. */
  readonly byteLength: number;
  /** Gives its memory back. */
  free(): void;
}

/** The depth that stands for any from there on. */
export const MAX_WILDCARD_DEPTH = 64;

/**
 * Whether a path may exist: because `lookup` has it, or because it has a wildcard key above it, as
 * `/blog/*` is above `/blog/a` and `/blog/a/b` (but not above `/blog`).
 *
 * Wildcard keys are asked for only as deep as `lookup` has any.
 *
 * @param path as `normalizePath` returns it
 * @throws {HedgerowError} `ERR_ARGUMENT` for an argument of the wrong type
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
  // A star as the last segment: where it is a name and no wildcard, its key has it encoded.
  if (path.endsWith("/*") && lookup.has(`${path.slice(0, -1)}%2A`)) return true;
  const { wildcards } = lookup;
  let depth = 0;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    // What lies deeper than all wildcards that are told apart may be below one that is not.
    if (depth === wildcards) return wildcards === MAX_WILDCARD_DEPTH;
    if (lookup.has(`${path.slice(0, slash)}/*`)) return true;
    depth += 1;
  }
  return false;
}

/** Whether a value can be asked for paths. */
export function isLookup(value: unknown): value is Pick<PathLookup, "has" | "wildcards"> {
  const { has, wildcards } = (value ?? {}) as Partial<PathLookup>;
  return typeof has === "function" && typeof wildcards === "number";
}
