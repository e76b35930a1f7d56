import { join } from "node:path";

import { expect, test } from "vitest";

import { next } from "../../../src/paths/sources/next.js";
import { expectError, keysIn, options } from "../../support/keys.js";
import { makeTree, type Tree } from "../../support/tree.js";

const folderOf = (routes: object, files: Tree = {}) =>
  join(
    makeTree({
      ".next/BUILD_ID": "B1\n",
      ".next/routes-manifest.json": { json: routes },
      ...files,
    }),
    ".next",
  );

/** The keys except those that every site has. */
async function keysOf(routes: object, files: Tree = {}, own = options()): Promise<string[]> {
  const keys = await keysIn(next(folderOf(routes, files), own));
  return keys.filter((key) => !/\/_next\/(?:data\/B1\/\*|image)$/.test(key));
}

const pages = (...names: string[]) => names.map((page) => ({ page }));

test("adds the data and image paths of every Next.js site", async () => {
  const keys = await keysIn(next(folderOf({ basePath: "/base" }), options()));
  expect(keys).toEqual(["/base/_next/data/B1/*", "/base/_next/image"]);
});

test("adds pages at their paths, dynamic ones as wildcards", async () => {
  const routes = {
    staticRoutes: pages("/", "/about", "/sitemap.xml"),
    dynamicRoutes: pages("/blog/[slug]", "/docs/[...all]", "/shop/[[...rest]]", "/[lang]x/y"),
  };
  const own = options();
  expect(await keysOf(routes, {}, own)).toEqual([
    ...["/", "/*", "/about", "/blog/*", "/docs/*", "/shop", "/shop/*", "/sitemap.xml"],
  ]);
  expect(own.warnings).toEqual(["the page /[lang]x/y may answer any path"]);
});

test("adds the pages of both routers and the data paths of the App Router", async () => {
  const app = {
    "/page": "/",
    "/(group)/team/page": "/team",
    "/api/hello/route": "/api/hello",
    "/blog/[slug]/page": "/blog/[slug]",
  };
  const routed = { "/_app": "", "/_document": "", "/_error": "", "/404": "", "/api/old": "" };
  expect(
    await keysOf(
      {},
      {
        ".next/app-path-routes-manifest.json": { json: app },
        ".next/server/pages-manifest.json": { json: routed },
      },
    ),
  ).toEqual([
    ...["/", "/404", "/api/hello", "/api/old", "/blog/*"],
    ...["/index.prefetch.rsc", "/index.rsc", "/index.segments/*"],
    ...["/team", "/team.prefetch.rsc", "/team.rsc", "/team.segments/*"],
  ]);
});

test("adds prerendered paths and their data", async () => {
  const json = {
    routes: {
      "/blog/é 100%": { dataRoute: "/blog/é 100%.rsc" },
      "/ssg": { dataRoute: "/_next/data/B1/ssg.json" },
      "/feed.xml": { dataRoute: null },
    },
  };
  expect(await keysOf({}, { ".next/prerender-manifest.json": { json } })).toEqual([
    "/_next/data/B1/ssg.json",
    ...["/blog/é 100%25", "/blog/é 100%25.prefetch.rsc", "/blog/é 100%25.rsc"],
    ...["/blog/é 100%25.segments/*", "/feed.xml", "/ssg"],
  ]);
});

test("escapes the names of public files and pages", async () => {
  const app = { "/a/*/page": "/a/*" };
  const files = {
    ".next/app-path-routes-manifest.json": { json: app },
    "public/b/*": "",
    "public/\ufeffc": "",
    "public/d/up": { link: "." },
  };
  expect(await keysOf({}, files)).toEqual([
    ...["/a/%2A", "/a/*.prefetch.rsc", "/a/*.rsc", "/a/*.segments/*", "/b/%2A"],
    ...["/d/up", "/d/up/*", "/\ufeffc"],
  ]);
});

test("adds only the prerendered paths of a page without fallback", async () => {
  const routes = { dynamicRoutes: pages("/closed/[id]", "/open/[id]") };
  const json = {
    routes: { "/closed/1": { dataRoute: null } },
    dynamicRoutes: { "/closed/[id]": { fallback: false }, "/open/[id]": { fallback: null } },
  };
  const app = { "/closed/[id]/page": "/closed/[id]", "/open/[id]/page": "/open/[id]" };
  const files = {
    ".next/prerender-manifest.json": { json },
    ".next/app-path-routes-manifest.json": { json: app },
  };
  expect(await keysOf(routes, files)).toEqual(["/closed/1", "/open/*"]);
});

test("adds public files below the base path", async () => {
  const files = {
    ".next/static/chunks/app/blog/[slug]/page.js": "",
    ".next/server/app/about.html": "",
    "public/robots.txt": "",
    "public/img/a b%.png": "",
    "public/index.html": "",
  };
  expect(await keysOf({ basePath: "/base", staticRoutes: pages("/") }, files)).toEqual([
    "/base",
    "/base/_next/static/chunks/app/blog/[slug]/page.js",
    ...["/base/img/a b%25.png", "/base/index.html", "/base/robots.txt"],
  ]);
});

test("adds the files of the older static directory", async () => {
  const files = { "static/logo.svg": "", "public/robots.txt": "", ".next/static/a.js": "" };
  expect(await keysOf({ basePath: "/base" }, files)).toEqual([
    ...["/base/_next/static/a.js", "/base/robots.txt", "/base/static/logo.svg"],
  ]);
});

test.each(["build/next", "./build/next/", "build//next"])(
  "finds the project of a nested build by its distDir: %s",
  async (distDir) => {
    const tree = makeTree({
      "build/next/BUILD_ID": "B1\n",
      "build/next/routes-manifest.json": { json: {} },
      "build/next/required-server-files.json": { json: { config: { distDir } } },
      "build/public/wrong.txt": "",
      "public/robots.txt": "",
    });
    const keys = await keysIn(next(join(tree, "build/next"), options()));
    expect(keys).toEqual(["/_next/data/B1/*", "/_next/image", "/robots.txt"]);
  },
);

test("finds public beside a build that was moved", async () => {
  const json = { config: { distDir: "build/next" } };
  const files = { ".next/required-server-files.json": { json }, "public/robots.txt": "" };
  expect(await keysOf({}, files)).toEqual(["/robots.txt"]);
});

test("adds redirects and rewrites as written and in lower case", async () => {
  const route = (regex: string, more = {}) => ({ regex, ...more });
  const routes = {
    redirects: [
      route("^(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))/$", { internal: true }),
      route("^(?!/_next)/old(?:/)?$"),
      route("^(?!/_next)/Docs(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?$"),
    ],
    rewrites: {
      beforeFiles: [route("^/before(?:/)?$")],
      afterFiles: [route("^/proxy(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?$")],
      fallback: [route("^/fallback(?:/([^/]+?))(?:/)?$")],
    },
  };
  const keys = ["/before", "/fallback/*", "/old", "/proxy", "/proxy/*"];
  const cased = ["/Docs", "/Docs/*", "/docs", "/docs/*"];
  expect(await keysOf(routes)).toEqual([...cased, ...keys].sort());
  const sensitive = { ...routes, caseSensitive: true };
  expect(await keysOf(sensitive)).toEqual([...cased.slice(0, 2), ...keys]);
  expect(await keysOf({ rewrites: [route("^/a$")] })).toEqual(["/a"]);
});

test("warns about a catch-all route", async () => {
  const own = options();
  const regex = "^/base(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?$";
  const rewrites = [{ source: "/base/:path*", regex }];
  expect(await keysOf({ basePath: "/base", rewrites }, {}, own)).toEqual(["/base", "/base/*"]);
  expect(own.warnings).toEqual(["the route /base/:path* may answer any path"]);
});

test("prefixes pages with each locale and files with the default locale", async () => {
  const routes = {
    i18n: { locales: ["en", "fr-CA"], defaultLocale: "en" },
    staticRoutes: pages("/app"),
    redirects: [{ regex: "^(?!/_next)(?:/(en|fr\\-CA))/old(?:/)?$" }],
  };
  const files = {
    ".next/server/pages-manifest.json": { json: { "/en/about": "", "/fr-CA/about": "" } },
    "public/robots.txt": "",
  };
  expect(await keysOf(routes, files)).toEqual(
    [
      ...["/app", "/en/app", "/robots.txt", "/en/robots.txt"],
      ...["/about", "/en/about", "/fr-CA/about", "/fr-ca/about"],
      ...["/en/en/about", "/en/fr-CA/about", "/en/fr-ca/about"],
      ...["/old", "/en/old", "/fr-CA/old", "/fr-ca/old"],
    ].sort(),
  );
});

test("adds prerendered paths with their locale as written and in lower case", async () => {
  const routes = { i18n: { locales: ["en", "fr-CA"], defaultLocale: "en" } };
  const json = {
    routes: { "/fr-CA/Oak": { dataRoute: "/_next/data/B1/fr-CA/Oak.json" }, "/fr-CA": {} },
    dynamicRoutes: { "/[plant]": { fallback: false } },
  };
  expect(await keysOf(routes, { ".next/prerender-manifest.json": { json } })).toEqual(
    [
      ...["/", "/en", "/Oak", "/en/Oak", "/fr-CA/Oak", "/fr-ca/Oak", "/fr-CA", "/fr-ca"],
      ...["/en/fr-CA/Oak", "/en/fr-ca/Oak", "/en/fr-CA", "/en/fr-ca"],
      ...["/_next/data/B1/fr-CA/Oak.json", "/en/_next/data/B1/fr-CA/Oak.json"],
    ].sort(),
  );
});

test("adds the paths that middleware matches unless it is ignored", async () => {
  const matcher = (regexp: string, originalSource: string) => ({ regexp, originalSource });
  const about =
    "^(?:\\/(_next\\/data\\/[^/]{1,}))?\\/about(?:\\/((?:[^\\/#\\?]+?)(?:\\/(?:[^\\/#\\?]+?))*))?(\\.json)?[\\/#\\?]?$";
  const edge = { middleware: { "/": { matchers: [matcher(about, "/about/:path*")] } } };
  const node = { functions: { "/_middleware": { matchers: [matcher("^/.*$", "/:path*")] } } };
  const files = {
    ".next/server/middleware-manifest.json": { json: edge },
    ".next/server/functions-config-manifest.json": { json: node },
  };
  const own = options();
  expect(await keysOf({}, files, own)).toEqual([
    ...["/", "/*", "/_next/data/*", "/about", "/about.json", "/about/*"],
  ]);
  expect(own.warnings).toEqual([
    "the route /:path* may answer any path; pass --ignore-middleware if it only adds headers or rejects paths",
  ]);
  expect(await keysOf({}, files, options({ ignoreMiddleware: true }))).toEqual([]);
});

test("refuses a malformed .next folder", async () => {
  const nextOf = (file: string, content: string) =>
    next(folderOf({}, { [`.next/${file}`]: content }), options());
  await expectError(nextOf("routes-manifest.json", "{"), "routes-manifest.json: expected JSON");
  await expectError(nextOf("routes-manifest.json", "7"), "expected an object, found 7");
  const routes = nextOf("routes-manifest.json", '{ "staticRoutes": [{ "page": 1 }] }');
  await expectError(routes, "staticRoutes[0]: page: expected a string, found 1");
  const redirect = nextOf("routes-manifest.json", '{ "redirects": [{ "regex": "(" }] }');
  await expectError(redirect, "redirects[0]: regex: expected a regular expression");
  await expectError(nextOf("prerender-manifest.json", "[]"), "expected an object, found []");
  await expectError(nextOf("server/pages-manifest.json", "nope"), "expected JSON");
});
