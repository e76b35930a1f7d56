/** Reads the paths of a build of Next.js from its manifests. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

import { Json } from "../../files/json.js";
import {
  EVERYTHING,
  eitherCase,
  escapeName,
  IGNORE_MIDDLEWARE,
  keysOfDirectory,
  keysOfPage,
  keysOfPattern,
  readPattern,
} from "../keys.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { walk } from "./directory.js";

/** Yields the paths that `next start` answers for `.next`, and `public` and `static` of the project. */
export async function* next(
  directory: string,
  { ignoreMiddleware, warn }: RouteOptions,
): AsyncGenerator<string> {
  const manifests = await readManifests(directory);
  const locales = new Locales(manifests.routes.get("i18n"));
  const base = manifests.routes.get("basePath").stringIfThere() ?? "";
  for (const key of pageKeys(manifests, locales, warn)) {
    for (const prefix of locales.defaultPrefixes) yield base + prefix + key;
  }
  const root = rootOf(directory, manifests.server.get("config").get("distDir").stringIfThere());
  for await (const key of fileKeys(directory, root)) {
    for (const prefix of locales.defaultPrefixes) yield base + prefix + key;
  }
  const build = (await readFile(join(directory, "BUILD_ID"), "utf8")).trim();
  for (const prefix of locales.prefixes) yield `${base}${prefix}/_next/data/${build}/*`;
  yield `${base}/_next/image`;
  yield* customKeys(manifests, locales, warn);
  if (!ignoreMiddleware) yield* middlewareKeys(manifests, warn);
}

/** The manifests in which Next.js lists the pages and routes of a site. */
type Manifests = Awaited<ReturnType<typeof readManifests>>;

async function readManifests(directory: string) {
  const read = (name: string) => Json.readIfThere(join(directory, name));
  return {
    routes: await Json.read(join(directory, "routes-manifest.json")),
    prerender: await read("prerender-manifest.json"),
    app: await read("app-path-routes-manifest.json"),
    pages: await read("server/pages-manifest.json"),
    middleware: await read("server/middleware-manifest.json"),
    // Lists Node middleware, called proxy since Next.js 16.
    functions: await read("server/functions-config-manifest.json"),
    server: await read("required-server-files.json"),
  };
}

/** Returns the directory of the project: the one above, unless the build is in a deeper `distDir` of it. */
function rootOf(directory: string, distDir = ".next"): string {
  const at = resolve(directory);
  const end = join(sep, distDir).replace(/[/\\]$/, "");
  return at.endsWith(end) ? at.slice(0, at.length - end.length) || sep : dirname(at);
}

/** Yields the keys of files, without the base path. */
async function* fileKeys(directory: string, root: string): AsyncGenerator<string> {
  const mounted = [
    { at: join(directory, "static"), prefix: "/_next/static" },
    { at: join(root, "public"), prefix: "" },
    // Next.js has replaced it by `public`, but still serves it.
    { at: join(root, "static"), prefix: "/static" },
  ];
  for (const { at, prefix } of mounted) {
    if (!existsSync(at)) continue;
    for await (const { path, kind } of walk(at, () => true)) {
      yield* kind === "endless" ? keysOfDirectory(prefix + path) : [prefix + path];
    }
  }
}

/** Special pages without a path. */
const FRAMES = new Set(["/_app", "/_document", "/_error"]);

/** A path that a page answers. Both may contain dynamic segments in brackets. */
interface PagePath {
  readonly page: string;
  /** The path as in a URL. */
  readonly path: string;
}

/** Yields the keys of the pages of a site, without its base path. */
function* pageKeys(
  manifests: Manifests,
  locales: Locales,
  warn: (message: string) => void,
): Generator<string> {
  const closed = closedPages(manifests.prerender);
  const all = [
    ...listedPages(manifests.routes),
    ...appPages(manifests.app),
    ...routedPages(manifests.pages, locales),
  ];
  for (const { page, path } of all) {
    if (closed.has(page)) continue;
    const keys = [...keysOfPage(path)];
    if (keys.includes(EVERYTHING)) warn(`the page ${page} may answer any path`);
    yield* keys;
  }
  yield* prerenderedKeys(manifests.prerender, locales);
}

/** Returns the dynamic pages that answer only prerendered paths (`fallback: false`). */
function closedPages(prerender: Json): Set<string> {
  const dynamic = prerender.get("dynamicRoutes").entries();
  const closed = dynamic.filter(([, route]) => route.get("fallback").is(false));
  return new Set(closed.map(([page]) => page));
}

function listedPages(routes: Json): PagePath[] {
  const listed = [...routes.get("staticRoutes").items(), ...routes.get("dynamicRoutes").items()];
  return listed.map((route) => {
    const page = route.get("page").string();
    return { page, path: escapeName(page) };
  });
}

/** Returns the pages and route handlers of the App Router. */
function appPages(app: Json): PagePath[] {
  return app.entries().flatMap(([file, route]) => {
    const page = route.string();
    const path = escapeName(page);
    const paths = file.endsWith("/page") ? [path, ...dataPaths(path)] : [path];
    return paths.map((path) => ({ page, path }));
  });
}

/** Returns the data paths that the Next.js client requests for a page of the App Router. */
function dataPaths(page: string): string[] {
  const stem = page === "/" ? "/index" : page;
  return [`${stem}.rsc`, `${stem}.prefetch.rsc`, `${stem}.segments/*`];
}

/** Returns the pages of the Pages Router, which also answer below each locale. */
function routedPages(pages: Json, locales: Locales): PagePath[] {
  const names = pages.entries().map(([name]) => name);
  return names
    .filter((name) => !FRAMES.has(name))
    .map((name) => locales.without(name, "") ?? name)
    .flatMap((page) =>
      locales.prefixes.map((prefix) => ({ page, path: escapeName(prefix + page) })),
    );
}

/** Yields the keys of prerendered paths and of their data. */
function* prerenderedKeys(prerender: Json, locales: Locales): Generator<string> {
  for (const [path, route] of prerender.get("routes").entries()) {
    const data = route.get("dataRoute").stringIfThere() ?? "";
    const bare = locales.without(path, "") ?? path;
    const paths = [...locales.spellings(path), bare, data || path];
    for (const found of new Set(paths)) yield* readings(found);
    if (data.endsWith(".rsc")) yield* readings(path).flatMap(dataPaths);
  }
}

/** A path in a manifest is plain text; if it may be encoded already, both readings count. */
function readings(path: string): string[] {
  const text = escapeName(path);
  return path.includes("%") ? [text, path.replaceAll("*", "%2A")] : [text];
}

type Warn = (message: string) => void;

/** Yields the keys of the redirects and rewrites in `next.config`, with the base path. */
function* customKeys({ routes }: Manifests, locales: Locales, warn: Warn) {
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
function* middlewareKeys(manifests: Manifests, warn: Warn): Generator<string> {
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

/** The locales of a Next.js site with the Pages Router, which may prefix its paths. */
class Locales {
  readonly #names: readonly string[];
  /** Prefixes of page paths; the first is empty. */
  readonly prefixes: readonly string[];
  /** Prefixes of any path, including files; the first is empty. */
  readonly defaultPrefixes: readonly string[];

  /** @param i18n the member of `routes-manifest.json`, which may be missing */
  constructor(i18n: Json) {
    this.#names = i18n
      .get("locales")
      .items()
      .map((locale) => locale.string());
    const hosts = [i18n, ...i18n.get("domains").items()];
    const defaults = hosts.flatMap((host) => host.get("defaultLocale").stringIfThere() ?? []);
    this.prefixes = prefixesOf(this.#names);
    this.defaultPrefixes = prefixesOf(defaults);
  }

  /** Returns a path as written and with its locale in lower case, since Next.js ignores the case of locales. */
  spellings(path: string): string[] {
    const rest = this.without(path, "");
    if (rest === undefined) return [path];
    const end = rest === "/" ? path.length : path.length - rest.length;
    return [path, path.slice(0, end).toLowerCase() + path.slice(end)];
  }

  /** Returns a path without the locale after its base path, or `undefined` if it has none. */
  without(path: string, base: string): string | undefined {
    for (const name of this.#names) {
      const start = `${base}/${name}`;
      if (path === start) return base || "/";
      if (path.startsWith(`${start}/`)) return base + path.slice(start.length);
    }
    return undefined;
  }
}

/** Returns the prefixes of locales, which match in any case. */
function prefixesOf(locales: readonly string[]): string[] {
  return [...new Set(["", ...locales.flatMap((locale) => eitherCase(`/${locale}`))])];
}
