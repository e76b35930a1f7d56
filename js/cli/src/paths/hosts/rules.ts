/** The paths that the rules of a host answer besides files. */
import { EVERYTHING, eitherCase } from "../keys.js";
import { type ConfigRoutes, mappedPaths, type RouteOptions } from "../routes/config-routes.js";
import type { RewriteRoute } from "../routes/rewrites.js";

/** A file of a host. */
export interface HostFile {
  readonly file: string;
  readonly text: string;
  /** The directory that is deployed. */
  readonly directory: string;
  readonly options: RouteOptions;
}

/** The paths that a file of a host states. */
export interface HostPaths extends ConfigRoutes {
  /** Whether the host also answers a page without `.html`, as Cloudflare, Netlify and Azure do by default. */
  readonly cleanUrls: boolean;
}

/** Reads a file of a host. @throws {CliError} `ERR_SOURCE` if it is not understood */
export type HostReader = (file: HostFile) => HostPaths;

/** A rule of a host that answers the paths that match a pattern. */
export interface HostRule {
  /** The pattern as the host states it, for warnings. */
  readonly source: string;
  /** Returns the same as a regular expression. */
  readonly pattern: () => string;
  /** Path or URL to which it leads, with `$name` for what a group captures. */
  readonly destination?: string | undefined;
  /** Ends a warning that the rule may answer any path. */
  readonly hint?: string;
}

/** Characters of a pattern. Hosts allow no longer ones. */
export const MAX_PATTERN_LENGTH = 4096;
/** Depth of brackets in a pattern. Reading it takes time in proportion to this. */
export const MAX_PATTERN_DEPTH = 32;
/** Keys of a file. Beyond them, any path may exist. */
export const MAX_HOST_KEYS = 1 << 17;
/** Rules of a file that map any path to another. Each is applied to every key. */
export const MAX_MAPPINGS = 64;

const IGNORE_HOSTS = "; pass --ignore-hosts if this host does not serve the site";

/**
 * Returns the keys of rules, and the rules that map any path to another, which must be inverted.
 *
 * @param own the paths that the host answers itself
 */
export function routesOfRules(
  rules: Iterable<HostRule>,
  { file, options: { warn } }: HostFile,
  own: readonly string[] = [],
): ConfigRoutes {
  const keys: string[] = [];
  const rewrites: RewriteRoute[] = [];
  for (const rule of rules) {
    const { source, hint = IGNORE_HOSTS } = rule;
    const read = pathsOf(rule);
    if (read === undefined) {
      warn(
        `${file}: expected a pattern, found ${source.slice(0, 100)}; the filter lacks its paths`,
      );
      continue;
    }
    for (const key of read.keys) keys.push(...eitherCase(key));
    if (read.keys.includes(EVERYTHING))
      warn(`${file}: the rule ${source} may answer any path${hint}`);
    if (read.rules !== undefined && read.rules.length > 0) {
      rewrites.push({
        source,
        rules: read.rules,
        index: rewrites.length,
        matches: [EVERYTHING],
        // As a redirect, each rule counts once in a chain, in any order.
        isRedirect: true,
        check: false,
        phase: undefined,
      });
    }
    if (keys.length > MAX_HOST_KEYS || rewrites.length > MAX_MAPPINGS) {
      warn(`${file}: too many rules: any path may exist`);
      return { keys: [EVERYTHING], rewrites: [] };
    }
  }
  return { keys: [...own, ...keys], rewrites };
}

/** Returns `undefined` if a pattern is not understood. */
function pathsOf({ source, pattern, destination }: HostRule) {
  if (source.length > MAX_PATTERN_LENGTH || depthOf(source) > MAX_PATTERN_DEPTH) return undefined;
  try {
    const regex = pattern();
    if (regex.length > MAX_PATTERN_LENGTH) return undefined;
    return mappedPaths({ source: regex, destination, isRedirect: true });
  } catch (error) {
    // A RangeError is a stack overflow from deeply nested groups.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the depth of brackets, whether they are closed or not. */
function depthOf(pattern: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of pattern) {
    if ("({[".includes(character)) depth += 1;
    if (")}]".includes(character)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
