import type { Json } from "../../files/json.js";
import { escapeName } from "../path-text.js";
import { EVERYTHING, keysOfPage } from "./keys.js";
import type { Locales } from "./locales.js";

/** Pages that frame others, and have no path. */
const FRAMES = new Set(["/_app", "/_document", "/_error"]);

/** What Next.js has written of the pages of a site. */
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

/** One of the paths that a page answers; both may have names in brackets for what varies. */
interface PagePath {
  readonly page: string;
  /** As a URL has it. */
  readonly path: string;
}

/** The keys of the pages of a site, before its base path. */
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

/** The pages with names in brackets that have only the paths that were rendered. */
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

/** The pages and route handlers of the App Router. */
function appPages(app: Json): PagePath[] {
  return app.entries().flatMap(([file, route]) => {
    const page = route.string();
    const path = escapeName(page);
    const paths = file.endsWith("/page") ? [path, ...besides(path)] : [path];
    return paths.map((path) => ({ page, path }));
  });
}

/** What the client of Next.js may ask for, as a URL has it, beside a page of the App Router. */
function besides(page: string): string[] {
  const stem = page === "/" ? "/index" : page;
  return [`${stem}.rsc`, `${stem}.prefetch.rsc`, `${stem}.segments/*`];
}

/** The pages of the Pages Router, which also answer after each locale. */
function routedPages(pages: Json, locales: Locales): PagePath[] {
  const names = pages.entries().map(([name]) => name);
  return names
    .filter((name) => !FRAMES.has(name))
    .map((name) => locales.without(name, "") ?? name)
    .flatMap((page) =>
      locales.prefixes.map((prefix) => ({ page, path: escapeName(prefix + page) })),
    );
}

/** The keys of paths that were rendered when the site was built, and of their data. */
function* prerenderedKeys(prerender: Json, locales: Locales): Generator<string> {
  for (const [path, route] of prerender.get("routes").entries()) {
    const data = route.get("dataRoute").stringIfThere() ?? "";
    const bare = locales.without(path, "") ?? path;
    for (const found of new Set([path, bare, data || path])) yield* spellings(found);
    if (data.endsWith(".rsc")) yield* spellings(path).flatMap(besides);
  }
}

/** A path in a manifest is text; where it may be encoded already, it counts as both. */
function spellings(path: string): string[] {
  const text = escapeName(path);
  return path.includes("%") ? [text, path.replaceAll("*", "%2A")] : [text];
}
