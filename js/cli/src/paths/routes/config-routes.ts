import { normalizePath } from "hedgerow";

import type { Json } from "../../files/json.js";
import { EVERYTHING, eitherCase, keysOfPattern } from "./keys.js";
import { readPattern } from "./read-pattern.js";
import { Rewrite } from "./rewrite.js";

/** What the routes of a `config.json` (Build Output API v3) answer beside files and functions. */
export interface ConfigRoutes {
  readonly keys: readonly string[];
  /** The routes that lead from one path to another, in their order. */
  readonly rewrites: readonly RewriteRoute[];
}

/** A route that leads from one path to another. */
export interface RewriteRoute {
  /** A regular expression. */
  readonly source: string;
  readonly rules: readonly Rewrite[];
  /** Where in the list it is. */
  readonly index: number;
  readonly isRedirect: boolean;
  /** Whether the routes of the rewrite phase are tried after it, wherever it is. */
  readonly check: boolean;
  readonly phase: string | undefined;
  /** The keys of all that it matches. */
  readonly matches: readonly string[];
}

export interface RouteOptions {
  /** Leaves out middleware: for what only adds headers. */
  readonly ignoreMiddleware: boolean;
  /** Told of what makes the filter useless. */
  warn(message: string): void;
}

/** Phases whose routes answer nothing of their own. */
const OTHER_PHASES = new Set(["error", "hit"]);

/** Headers with which the client of Next.js asks for other forms of a page that is at the path. */
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
        if (key === EVERYTHING) options.warn(`the route ${route.source} may answer any path`);
      }
    }
  }
  return { keys, rewrites };
}

interface Route {
  /** A regular expression. */
  readonly source: string;
  /** Where it rewrites or redirects to. */
  readonly destination: string | undefined;
  readonly isRedirect: boolean;
  readonly check: boolean;
  readonly isMiddleware: boolean;
  readonly isCaseSensitive: boolean;
  readonly isForNextClient: boolean;
}

/** A route, if it can answer something. */
function readRoute(json: Json): Route | undefined {
  const status = either(json, "status", "statusCode");
  if (status.is(404)) return undefined;
  const headers = json.get("headers").entries();
  const location = headers.find(([name]) => name.toLowerCase() === "location")?.[1].string();
  const dest = either(json, "dest", "destination");
  const isMiddleware = json.get("middlewarePath").isThere;
  const hasTarget = dest.isThere || location !== undefined || json.get("locale").isThere;
  // What goes on only sets the status of what it may come to.
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

/** A member that has two names, of which one is there. */
function either(json: Json, name: string, other: string): Json {
  return json.get(json.get(other).isThere ? other : name);
}

/** The pattern of a route matches all of a path: the platform adds the anchors that it lacks. */
function anchored(source: string): string {
  return `${source.startsWith("^") ? "" : "^"}${source}${source.endsWith("$") ? "" : "$"}`;
}

/** The destinations with what `$wildcard` stands for, which depends on the host. */
function withWildcards(destination: string | undefined, values: readonly string[]) {
  if (!destination?.includes("$wildcard")) return [destination];
  return values.map((value) => destination.replaceAll("$wildcard", value));
}

/**
 * A rewrite to a path of the deployment answers what is there, and is read backwards. A redirect
 * always answers; only where it would stand for everything it counts if there is something where it
 * leads to, as those do that add and remove slashes and `.html`.
 */
function rulesOrKeys(route: Route): { rules?: Rewrite[]; keys: readonly string[] } {
  const { source, destination } = route;
  const keys = keysOfPattern(source);
  const specific = keys.filter((key) => key !== EVERYTHING);
  const isEverything = specific.length < keys.length;
  if (route.isForNextClient) return { keys: specific };
  const isInternal = destination !== undefined && !EXTERNAL.test(destination);
  if (isInternal && !route.isMiddleware && (isEverything || !route.isRedirect)) {
    const read = Rewrite.read(source, destination);
    if (read !== undefined) return read;
  }
  return { keys };
}
