import { normalizePath } from "hedgerow";

import type { Json } from "../../files/json.js";
import { EVERYTHING, eitherCase, IGNORE_MIDDLEWARE, keysOfPattern, readPattern } from "../keys.js";
import { Rewrite, type RewriteRoute } from "./rewrites.js";

/** Paths that the routes of a `config.json` (Build Output API v3) answer besides files and functions. */
export interface ConfigRoutes {
  readonly keys: readonly string[];
  /** The routes that map a path to another, in order. */
  readonly rewrites: readonly RewriteRoute[];
}

export interface RouteOptions {
  /** Whether to ignore middleware, because it only adds headers. */
  readonly ignoreMiddleware: boolean;
  /** Called with a warning about a source that weakens the filter. */
  warn(message: string): void;
}

/** Phases whose routes answer no path themselves. */
const OTHER_PHASES = new Set(["error", "hit"]);

/** Headers by which the Next.js client requests other representations of the same page. */
const NEXT_HEADER = /^(?:rsc$|next-|x-nextjs-)/i;

const EXTERNAL = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i;

/** Reads the `routes` of a `config.json`. */
export function readConfigRoutes(config: Json, options: RouteOptions): ConfigRoutes {
  const keys: string[] = [];
  const rewrites: RewriteRoute[] = [];
  const hosts = config.get("wildcard").items();
  const wildcards = hosts.map((host) => host.get("value").string());
  let phase: string | undefined;
  for (const [index, json] of config.get("routes").items().entries()) {
    phase = json.get("handle").stringIfThere() ?? phase;
    if (json.get("handle").isThere || OTHER_PHASES.has(phase ?? "")) continue;
    const route = readRoute(json);
    if (route === undefined || (route.isMiddleware && options.ignoreMiddleware)) continue;
    for (const destination of withWildcards(route.destination, wildcards)) {
      const pattern = either(json, "src", "source");
      const read = readPattern(pattern, () => rulesOrKeys({ ...route, destination }));
      const { rules = [] } = read;
      const spelled = (key: string) => (route.isCaseSensitive ? [key] : eitherCase(key));
      if (rules.length > 0) {
        const matches = keysOfPattern(route.source).flatMap(spelled).map(normalizePath);
        rewrites.push({ ...route, rules, index, phase, matches });
      }
      for (const key of read.keys) {
        keys.push(...spelled(key));
        if (key !== EVERYTHING) continue;
        const hint = route.isMiddleware ? IGNORE_MIDDLEWARE : "";
        options.warn(`the route ${route.source} may answer any path${hint}`);
      }
    }
  }
  return { keys, rewrites };
}

interface Route {
  /** Regular expression of the paths that it matches. */
  readonly source: string;
  /** Target of the rewrite or redirect. */
  readonly destination: string | undefined;
  readonly isRedirect: boolean;
  readonly check: boolean;
  readonly isMiddleware: boolean;
  readonly isCaseSensitive: boolean;
  readonly isForNextClient: boolean;
}

/** Reads a route; returns `undefined` if it cannot answer a path. */
function readRoute(json: Json): Route | undefined {
  const status = either(json, "status", "statusCode");
  if (status.is(404)) return undefined;
  const headers = json.get("headers").entries();
  const location = headers.find(([name]) => name.toLowerCase() === "location")?.[1].string();
  const dest = either(json, "dest", "destination");
  const isMiddleware = json.get("middlewarePath").isThere;
  const hasTarget = dest.isThere || location !== undefined || json.get("locale").isThere;
  // With `continue`, the status applies to whatever a later route answers.
  const isFinal = status.isThere && !json.get("continue").is(true);
  if (!hasTarget && !isMiddleware && !isFinal) return undefined;
  const conditions = json.get("has").items();
  return {
    source: anchored(either(json, "src", "source").string()),
    destination: dest.isString ? dest.string() : location,
    isRedirect: location !== undefined || isRedirectStatus(status),
    check: json.get("check").is(true),
    isMiddleware,
    isCaseSensitive: json.get("caseSensitive").is(true),
    isForNextClient: conditions.some(
      (condition) =>
        condition.get("type").is("header") && NEXT_HEADER.test(condition.get("key").string()),
    ),
  };
}

function isRedirectStatus(status: Json): boolean {
  return [301, 302, 303, 307, 308].some((code) => status.is(code));
}

/** Returns the member under either of its two names. */
function either(json: Json, name: string, other: string): Json {
  return json.get(json.get(other).isThere ? other : name);
}

/** Anchors a pattern, as the platform does: it must match the whole path. */
function anchored(source: string): string {
  return `${source.startsWith("^") ? "" : "^"}${source}${source.endsWith("$") ? "" : "$"}`;
}

/** Expands `$wildcard`, whose value depends on the host, into one destination per value. */
function withWildcards(destination: string | undefined, values: readonly string[]) {
  if (!destination?.includes("$wildcard")) return [destination];
  return values.map((value) => destination.replaceAll("$wildcard", value));
}

function rulesOrKeys(route: Route): { rules?: Rewrite[]; keys: readonly string[] } {
  if (!route.isForNextClient && !route.isMiddleware) return mappedPaths(route);
  const keys = keysOfPattern(route.source);
  return { keys: route.isForNextClient ? keys.filter((key) => key !== EVERYTHING) : keys };
}

/**
 * Returns the keys of the paths that a route answers, or its rules if it has to be inverted.
 *
 * A rewrite to a path of the deployment answers only if its target exists, so it is inverted. A
 * redirect always answers and yields keys, unless the key would be the catch-all (as with redirects
 * that add or remove slashes or `.html`): then it too counts only if its target exists.
 */
export function mappedPaths({
  source,
  destination,
  isRedirect,
}: Pick<Route, "source" | "destination" | "isRedirect">): {
  rules?: Rewrite[];
  keys: readonly string[];
} {
  const keys = keysOfPattern(source);
  const isInternal = destination !== undefined && !EXTERNAL.test(destination);
  if (isInternal && (keys.includes(EVERYTHING) || !isRedirect)) {
    const read = Rewrite.read(source, destination);
    if (read !== undefined) return read;
  }
  return { keys };
}
