import type { Json } from "../../files/json.js";
import { escapeName } from "../path-text.js";
import { EVERYTHING, keysOfPage } from "./keys.js";
import type { Locales } from "./locales.js";

/** Special pages without a path. */
const FRAMES = new Set(["/_app", "/_document", "/_error"]);

/** The manifests in which Next.js lists the pages of a site. */
export interface PageManifests {
  /** `routes-manifest.json` */
  readonly routes: Json;
  /** `prerender-manifest.json` */
  readonly prerender: Json;
  /** `app-path-routes-manifest.json` */
  readonly app: Json;
  /** `server/pages-manifest.json` */
  readonly pages: Json;
}

/** A path that a page answers. Both may contain dynamic segments in brackets. */
interface PagePath {
  readonly page: string;
  /** The path as in a URL. */
  readonly path: string;
}

/** Yields the keys of the pages of a site, without its base path. */
export function* pageKeys(
  manifests: PageManifests,
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
