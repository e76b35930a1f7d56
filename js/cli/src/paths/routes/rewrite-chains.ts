import type { RewriteRoute } from "./config-routes.js";
import { EVERYTHING } from "./keys.js";

/** How many keys may lead to one. Beyond it, whatever the routes match may exist. */
const MAX_CHAINED = 1024;

/** A key, and the routes that lead from it to one that is there, the first of them last. */
interface Link {
  readonly key: string;
  readonly route?: RewriteRoute;
  readonly next?: Link;
  /** The redirects among the routes: each counts once, as those that add something would without end. */
  readonly redirects: ReadonlySet<RewriteRoute>;
}

/** A key, and those of the paths that routes lead to it, be it one or as many as there are. */
export function* withRewrites(
  key: string,
  rewrites: readonly RewriteRoute[],
  warn: (message: string) => void,
): Generator<string> {
  yield key;
  const found = new Found({ key, redirects: new Set() });
  for (const link of found.links) {
    if (link.key === EVERYTHING) return;
    for (const route of rewrites) {
      for (const before of keysBefore(link, route)) {
        if (!found.add(linked(before, route, link))) continue;
        yield before;
        if (before === EVERYTHING) warn(`the route ${route.source} may lead any path to ${key}`);
      }
    }
    if (found.links.length > MAX_CHAINED) {
      warn(`too many paths lead to ${key}: any path that a rewrite matches may exist`);
      for (const { matches } of rewrites) yield* matches;
      return;
    }
  }
}

/** The links that were found, the shortest chains first. */
class Found {
  readonly links: Link[] = [];
  readonly #byKey = new Map<string, Link[]>();

  constructor(end: Link) {
    this.add(end);
  }

  /** Adds a link, unless one with its key may come after all the routes that this one may. */
  add(link: Link): boolean {
    const same = this.#byKey.get(link.key) ?? [];
    if (same.some((other) => includes(other, link))) return false;
    this.#byKey.set(link.key, [...same, link]);
    this.links.push(link);
    return true;
  }
}

/** Whether a path that one route has led to may meet another, which comes next in the chain. */
function mayMeet(one: RewriteRoute, other: RewriteRoute | undefined): boolean {
  if (other === undefined) return true;
  return one.index < other.index || one.isRedirect || (one.check && other.phase === "rewrite");
}

/** Whether all routes that may lead to a link may lead to the other one, which has the same key. */
function includes(other: Link, { route, redirects }: Link): boolean {
  if (![...other.redirects].every((redirect) => redirects.has(redirect))) return false;
  if (other.route === undefined || route === undefined) return other.route === undefined;
  const isAsFarBack = other.route.index >= route.index;
  return isAsFarBack && (other.route.phase === "rewrite" || route.phase !== "rewrite");
}

/** The keys of the paths that a route leads to a link: all of what it matches, if these would grow without end. */
function keysBefore(link: Link, route: RewriteRoute): readonly string[] {
  if (!mayMeet(route, link.route) || link.redirects.has(route)) return [];
  const keys = route.rules.flatMap((rule) => rule.keysFor(link.key));
  if (keys.length === 0) return keys;
  let last: Link | undefined = link;
  while (last !== undefined && last.route !== route) last = last.next;
  const length = last?.key.length ?? Number.POSITIVE_INFINITY;
  return keys.some((key) => key.length > length) ? route.matches : keys;
}

function linked(key: string, route: RewriteRoute, next: Link): Link {
  const redirects = route.isRedirect ? new Set([...next.redirects, route]) : next.redirects;
  return { key, route, next, redirects };
}
