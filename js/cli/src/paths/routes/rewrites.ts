/** Finds the paths that rewrites and redirects map to an existing one, by inverting the routes. */
import { normalizePath } from "hedgerow";

import { EVERYTHING, keysOfText } from "../keys.js";
import { ANY, CAPTURE, groupsOf, OPEN, variationsOf } from "./variations.js";

/** A route that maps a path to another. */
export interface RewriteRoute {
  /** Regular expression of the paths that it matches. */
  readonly source: string;
  readonly rules: readonly Rewrite[];
  /** Position in the list of routes. */
  readonly index: number;
  readonly isRedirect: boolean;
  /** Whether the routes of the rewrite phase run after it, whatever its own phase. */
  readonly check: boolean;
  readonly phase: string | undefined;
  /** Keys that cover every path it matches. */
  readonly matches: readonly string[];
}

/** Maximum number of keys that lead to one key. Beyond it, every path that a route matches counts. */
const MAX_CHAINED = 1024;

/** A key and the routes that map it to an existing one, in reverse order. */
interface Link {
  readonly key: string;
  readonly route?: RewriteRoute;
  readonly next?: Link;
  /** Redirects among the routes. Each counts once in a chain: a redirect that adds text would never end. */
  readonly redirects: ReadonlySet<RewriteRoute>;
}

/** Yields a key and the keys of all paths that one or more routes map to it. */
export function* withRewrites(
  key: string,
  rewrites: readonly RewriteRoute[],
  warn: (message: string) => void,
): Generator<string> {
  yield key;
  if (rewrites.length === 0) return;
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

/** Links found so far, shortest chain first. */
class Found {
  readonly links: Link[] = [];
  readonly #byKey = new Map<string, Link[]>();

  constructor(end: Link) {
    this.add(end);
  }

  /**
   * Adds a link, unless a link with the same key can follow all routes that this one can. Returns whether it
   * was added.
   */
  add(link: Link): boolean {
    const same = this.#byKey.get(link.key) ?? [];
    if (same.some((other) => includes(other, link))) return false;
    this.#byKey.set(link.key, [...same, link]);
    this.links.push(link);
    return true;
  }
}

/** Whether a path that one route produced may reach the next route of the chain. */
function mayMeet(one: RewriteRoute, other: RewriteRoute | undefined): boolean {
  if (other === undefined) return true;
  return one.index < other.index || one.isRedirect || (one.check && other.phase === "rewrite");
}

/** Whether every route that may lead to a link may lead to another one with the same key. */
function includes(other: Link, { route, redirects }: Link): boolean {
  if (![...other.redirects].every((redirect) => redirects.has(redirect))) return false;
  if (other.route === undefined || route === undefined) return other.route === undefined;
  const isAsFarBack = other.route.index >= route.index;
  return isAsFarBack && (other.route.phase === "rewrite" || route.phase !== "rewrite");
}

/**
 * Returns the keys of the paths that a route maps to the key of a link. If the route would lengthen them forever,
 * returns the keys of all paths that it matches.
 */
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

/** `$1` or `$name` in a destination. */
const REFERENCE = /\$(\d+|[a-z_]\w*)/gi;

/** A `..` segment, which removes the segment before it, possibly a captured one. */
const DOTS = /\/(?:\.|%2e){2}(?:\/|$)/i;

/** Text before and after a capture. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

/**
 * A rewrite that copies a capture into another path, such as `/(.*)` to `/en/$1`. Inverted, it yields
 * the paths that lead to an existing one.
 */
export class Rewrite {
  private constructor(
    private readonly from: Frame,
    private readonly to: Frame,
  ) {}

  /**
   * Returns the rewrites of a pattern and its destination, and the keys that the pattern matches literally; `undefined`
   * if it cannot be inverted.
   *
   * @throws SyntaxError
   */
  static read(
    source: string,
    destination: string,
  ): { rules: Rewrite[]; keys: string[] } | undefined {
    const path = destination.split(/[?#]/, 1)[0] ?? "";
    const references = new Set(Array.from(path.matchAll(REFERENCE), ([, name = ""]) => name));
    const groups = groupsOf(source);
    if (![...references].every((name) => groups.has(name))) return undefined;
    const rules: Rewrite[] = [];
    const keys: string[] = [];
    for (const { text, captures } of variationsOf(source, references)) {
      if (!OPEN.test(text)) {
        keys.push(...keysOfText(text));
        continue;
      }
      const target = path.replace(REFERENCE, (_, name: string) => captures[name] ?? "");
      const from = frameOf(text);
      const to = frameOf(target);
      if (from === undefined || to === undefined || OPEN.test(from.before + to.after)) {
        return undefined;
      }
      if (DOTS.test(to.after)) return undefined;
      // In the form of keys: decoded, without repeated or trailing slashes.
      const before = normalizePath(`${to.before}x`).slice(0, -1);
      const after = normalizePath(`/x${to.after}`).slice(2);
      rules.push(new Rewrite(from, { before, after }));
    }
    return { rules, keys };
  }

  /** Returns the keys of the paths that lead to a key. */
  keysFor(key: string): string[] {
    const { to } = this;
    if (key.endsWith("/*")) {
      const directory = key.slice(0, -1);
      // Every path that it produces is below the wildcard.
      if (to.before.startsWith(directory)) return this.spell(ANY, true);
      if (!directory.startsWith(to.before)) return [];
      const rest = directory.slice(to.before.length);
      const keys = this.spell(`${rest}*`, false);
      // A shorter capture and what follows it may lead into the directory, too.
      for (let end = 0; to.after !== "" && end <= rest.length; end += 1) {
        if (to.after.startsWith(rest.slice(end)))
          keys.push(...this.spell(rest.slice(0, end), true));
      }
      return keys;
    }
    // Compare without the trailing slash, because keys have none.
    if (to.after === "" && `${key}/` === to.before) return this.spell("", true);
    const end = key.length - to.after.length;
    if (!key.startsWith(to.before) || !key.endsWith(to.after) || end < to.before.length) return [];
    return this.spell(key.slice(to.before.length, end), true);
  }

  private spell(captured: string, withEnd: boolean): string[] {
    const { before } = this.from;
    const after = withEnd ? this.from.after : "";
    // A captured star is part of a name, unless it ends a wildcard.
    const text = withEnd ? captured.replaceAll("*", "%2A") : captured;
    const spellings = new Set([
      before + text + after,
      before.toLowerCase() + text + after.toLowerCase(),
    ]);
    return [...spellings].flatMap((spelled) => [...keysOfText(spelled)]).map(normalizePath);
  }
}

/** Returns the text around a capture, if there is exactly one. */
function frameOf(text: string): Frame | undefined {
  const [before, after, ...more] = text.split(CAPTURE);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return { before, after };
}
