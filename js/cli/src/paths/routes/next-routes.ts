import type { Json } from "../../files/json.js";
import { EVERYTHING, eitherCase, IGNORE_MIDDLEWARE, keysOfPattern } from "./keys.js";
import type { Locales } from "./locales.js";
import { readPattern } from "./read-pattern.js";

/** The manifests in which Next.js lists the routes of a site. */
export interface RouteManifests {
  /** `routes-manifest.json` */
  readonly routes: Json;
  /** `server/middleware-manifest.json` */
  readonly middleware: Json;
  /** `server/functions-config-manifest.json`: lists Node middleware, called proxy since Next.js 16. */
  readonly functions: Json;
}

type Warn = (message: string) => void;

/** Yields the keys of the redirects and rewrites in `next.config`, with the base path. */
export function* customKeys({ routes }: RouteManifests, locales: Locales, warn: Warn) {
  const base = routes.get("basePath").stringIfThere() ?? "";
  const isCaseSensitive = routes.get("caseSensitive").is(true);
  for (const route of [...routes.get("redirects").items(), ...rewritesOf(routes)]) {
    // Internal routes only add or remove a slash.
    if (route.get("internal").is(true)) continue;
    const keys = readPattern(route.get("regex"), keysOfPattern).flatMap((key) => {
      // A path without a locale gets the default locale of its host.
      const bare = locales.without(key, base) ?? locales.without(key, "");
      return bare === undefined ? [key] : [key, bare];
    });
    warnOfEverything(keys, base, route.get("source"), warn);
    yield* isCaseSensitive ? keys : keys.flatMap(eitherCase);
  }
}

function rewritesOf(routes: Json): Json[] {
  const rewrites = routes.get("rewrites");
  if (rewrites.isList) return rewrites.items();
  return ["beforeFiles", "afterFiles", "fallback"].flatMap((phase) => rewrites.get(phase).items());
}

/** Yields the keys of the paths that middleware matches, with the base path. */
export function* middlewareKeys(manifests: RouteManifests, warn: Warn): Generator<string> {
  const base = manifests.routes.get("basePath").stringIfThere() ?? "";
  const { middleware, functions } = manifests;
  const all = [...middleware.get("middleware").entries(), ...functions.get("functions").entries()];
  for (const [, handler] of all) {
    for (const matcher of handler.get("matchers").items()) {
      const keys = readPattern(matcher.get("regexp"), keysOfPattern);
      warnOfEverything(keys, base, matcher.get("originalSource"), (message) =>
        warn(message + IGNORE_MIDDLEWARE),
      );
      yield* keys.flatMap(eitherCase);
    }
  }
}

function warnOfEverything(keys: readonly string[], base: string, source: Json, warn: Warn): void {
  if (keys.includes(EVERYTHING) || keys.includes(base + EVERYTHING)) {
    warn(`the route ${source.stringIfThere() ?? "of middleware"} may answer any path`);
  }
}
