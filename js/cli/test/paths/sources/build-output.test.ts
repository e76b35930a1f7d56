import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import fc from "../../../../../tests/support/fast-check.js";
import { CliError } from "../../../src/error.js";
import { buildOutput } from "../../../src/paths/sources/build-output.js";
import { expectError, keysIn, options } from "../../support/keys.js";
import { makeTree, type Tree } from "../../support/tree.js";

/** The keys of an output with these routes and files, without the platform's own paths. */
async function keysOf(config: object, files: Tree = {}, own = options()): Promise<string[]> {
  const root = makeTree({ ...files, "config.json": { json: { version: 3, ...config } } });
  const keys = await keysIn(buildOutput(root, own));
  return keys.filter((key) => key !== "/_vercel/*");
}

/** The keys of an output with these routes, and `/about` and `/en/blog`. */
const keysOfRoutes = async (routes: object[], own = options()) => {
  const files = { "functions/about.func/index.js": "", "functions/en/blog.func/index.js": "" };
  const keys = await keysOf({ routes }, files, own);
  return keys.filter((key) => key !== "/about" && key !== "/en/blog");
};

test("adds static files at their paths or their overrides", async () => {
  const overrides = {
    "about.html": { path: "about", contentType: "text/html" },
    "data.json": { contentType: "text/plain" },
    "100%.txt": { path: "50%" },
    "home.html": { path: "index" },
    "missing.html": { path: "missing" },
  };
  const files = {
    "static/about.html": "",
    "static/data.json": "",
    "static/100%.txt": "",
    "static/home.html": "",
    "static/docs/index.html": "",
    "static/_next/static/[slug].js": "",
  };
  expect(await keysOf({ overrides }, files)).toEqual([
    ...["/", "/50%25", "/_next/static/[slug].js", "/about", "/data.json"],
    ...["/docs", "/docs/index.html", "/index"],
  ]);
});

test("adds functions at their names, dynamic ones as wildcards", async () => {
  const files = {
    "functions/index.func/index.js": "",
    "functions/api/hello.func/.vc-config.json": "",
    "functions/api/hello.func/nested.func/index.js": "",
    "functions/api/linked.func": { link: "hello.func" },
    "functions/page.prerender-config.json": "",
    "functions/page.prerender-fallback.html": "",
    "functions/blog/[slug].func/index.js": "",
    "functions/docs/[[...all]].func/index.js": "",
    "functions/café 100%.func/index.js": "",
    "functions/not-a-function.func": "",
  };
  expect(await keysOf({}, files)).toEqual([
    ...["/", "/api/hello", "/api/linked", "/blog/*", "/café 100%25"],
    ...["/docs", "/docs/*", "/index", "/page"],
  ]);
});

test("keeps byte order marks and escapes stars in file names of an output", async () => {
  const overrides = { "\ufefflow.html": { path: "\ufefflow" }, "moved.html": { path: "a/*" } };
  const files = {
    "static/\ufefflow.html": "",
    "static/moved.html": "",
    "static/b/*": "",
    "functions/\ufeffapi.func/index.js": "",
    "functions/c/*.func/index.js": "",
    "functions/*/[id].func/index.js": "",
  };
  expect(await keysOf({ overrides }, files)).toEqual([
    ...["/*/*", "/a/%2A", "/b/%2A", "/c/%2A", "/\ufeffapi", "/\ufefflow"],
  ]);
});

test("functions have names that are not UTF-8", async () => {
  const root = makeTree({ "config.json": { json: { version: 3 } }, "functions/": "" });
  const named = (...parts: (string | number)[]) =>
    Buffer.concat([
      Buffer.from(`${root}/functions/`),
      ...parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))),
    ]);
  mkdirSync(named("a", 0xff, ".func"));
  mkdirSync(named("b", 0xff));
  mkdirSync(named("b", 0xff, "/[id", 0xff, "].func"));
  writeFileSync(named("c", 0xff, ".prerender-config.json"), "");
  const keys = await keysIn(buildOutput(root, options()));
  expect(keys).toEqual(["/_vercel/*", "/a%FF", "/b%FF/*", "/c%FF"]);
});

test("adds a page and a wildcard for a link to a parent directory", async () => {
  const files = {
    "static/sub/index.html": "",
    "static/sub/up": { link: "." },
    "functions/api/index.func/index.js": "",
    "functions/api/again": { link: "." },
  };
  expect(await keysOf({}, files)).toEqual([
    ...["/api", "/api/again", "/api/again/*", "/api/index"],
    ...["/sub", "/sub/index.html", "/sub/up", "/sub/up/*"],
  ]);
});

test("accepts an output with nothing but a version", async () => {
  expect(await keysOf({})).toEqual([]);
  expect(await keysOf({ images: { sizes: [] } })).toEqual(["/_next/image"]);
});

test("warns about a catch-all function", async () => {
  const own = options();
  const files = { "functions/[[...path]].func/index.js": "" };
  expect(await keysOf({}, files, own)).toEqual(["/", "/*"]);
  expect(own.warnings).toEqual(["the function /[[...path]] may answer any path"]);
});

test("adds the paths of routes that answer", async () => {
  expect(
    await keysOfRoutes([
      { src: "/literal", dest: "/about" },
      { src: "^/optional(?:/)?$", dest: "/about" },
      { src: "/moved", status: 308, headers: { Location: "/about" } },
      { src: "/moved-dest/(.*)", status: 301, dest: "/nowhere/$1" },
      { src: "/moved-lower/(.*)", status: 302, headers: { location: "/about" } },
      { src: "/gone", status: 410 },
      { src: "/proxy/(.*)", dest: "https://example.com/$1" },
      { src: "/guarded/(.*)", middlewarePath: "middleware", continue: true },
      { src: "/greeting", locale: { redirect: { de: "/de" } }, continue: true },
      { source: "/newer", destination: "/about" },
      { src: "/service/(.*)", destination: { service: "api" } },
      { handle: "rewrite" },
      { src: "/item/(?<id>[^/]+?)", dest: "/about?id=$id" },
    ]),
  ).toEqual([
    ...["/gone", "/greeting", "/guarded", "/guarded/*", "/item/*", "/literal", "/moved"],
    ...[
      "/moved-dest",
      "/moved-dest/*",
      "/moved-lower",
      "/moved-lower/*",
      "/newer",
      "/optional",
      "/proxy",
      "/proxy/*",
    ],
    ...["/service", "/service/*"],
  ]);
});

test("adds nothing for routes that answer no path", async () => {
  const own = options();
  expect(
    await keysOfRoutes(
      [
        { src: "/(.*)", headers: { "x-a": "b" }, continue: true },
        { src: "/(.*)", status: 404 },
        { src: "/404", status: 404, dest: "/404" },
        { src: "/500", status: 500, continue: true },
        { src: "^/\\.well-known(?:/.*)?$" },
        { src: "/(.*)", dest: "$wildcard/$1" },
        { handle: "hit" },
        { src: "/(.*)", dest: "/about" },
        { handle: "error" },
        { src: "/(.*)", dest: "/about" },
      ],
      own,
    ),
  ).toEqual([]);
  expect(own.warnings).toEqual([]);
});

test("adds a route as written and in lower case unless it is case-sensitive", async () => {
  const sensitive = { src: "/Exact", dest: "/about", caseSensitive: true };
  expect(await keysOfRoutes([{ src: "/Either/(.+)", dest: "/about" }, sensitive])).toEqual([
    ...["/Either/*", "/Exact", "/either/*"],
  ]);
});

test("adds the paths that a rewrite maps to existing ones", async () => {
  const own = options();
  const routes = [
    { src: "^/old/(.*)$", dest: "/$1", check: true },
    { src: "^/(?!en/)(.*)$", dest: "/en/$1", continue: true },
  ];
  expect(await keysOfRoutes(routes, own)).toEqual([
    ...["/blog", "/old/_vercel/*", "/old/about", "/old/blog", "/old/en/blog"],
  ]);
  expect(own.warnings).toEqual([]);
});

test("adds paths that a rewrite maps to the platform's own paths", async () => {
  const routes = [{ src: "^/stats/(.*)$", dest: "/_vercel/insights/$1" }];
  expect(await keysOfRoutes(routes)).toEqual(["/stats", "/stats/*"]);
});

test("follows chains of rewrites through later phases", async () => {
  const chain = (first: object, second: object) => keysOfRoutes([first, second]);
  const toAbout = { src: "/b/(.*)", dest: "/$1" };
  const toB = { src: "/a/(.*)", dest: "/b/$1" };
  expect(await chain(toB, toAbout)).toContain("/a/about");
  expect(await chain(toAbout, toB)).not.toContain("/a/about");
  const restarted = [{ handle: "rewrite" }, toAbout, { ...toB, check: true }];
  expect(await keysOfRoutes(restarted)).toContain("/a/about");
});

test("follows rewrites however long the chain", async () => {
  const names = Array.from("abcdefgh");
  const chain = names.map((name, at) => ({
    src: `/${name}/(.*)`,
    dest: at === 7 ? "/en/$1" : `/${names[at + 1]}/$1`,
  }));
  for (const routes of [
    chain,
    [{ handle: "rewrite" }, ...chain.map((route) => ({ ...route, check: true })).reverse()],
  ]) {
    const keys = await keysOfRoutes(routes);
    expect(keys).toEqual(expect.arrayContaining(names.map((name) => `/${name}/blog`)));
    expect(keys).not.toContain("/a/*");
  }
});

test("adds a wildcard for a rewrite that can repeat forever", async () => {
  const own = options();
  const again = { src: "/a/(.*)", dest: "/$1", check: true };
  const keys = await keysOfRoutes([{ handle: "rewrite" }, again], own);
  expect(keys).toEqual(["/a", "/a/*", "/a/_vercel/*", "/a/about", "/a/en/blog"]);
  expect(own.warnings).toEqual([]);
  const two = [
    { handle: "rewrite" },
    { src: "/b/(.*)", dest: "/c/$1", check: true },
    { src: "/c/(.*)", dest: "/b/x/$1", check: true },
    { src: "/b/(.*)", dest: "/$1", check: true },
  ];
  expect(await keysOfRoutes(two)).toEqual(expect.arrayContaining(["/b/about", "/b/*", "/c/*"]));
});

test("adds wildcards when rewrites map too many paths to one", async () => {
  const own = options();
  const names = Array.from({ length: 16 }, (_, at) => `n${at}`);
  const routes = names.map((name) => ({ src: `/${name}/(.*)`, dest: "/$1", continue: true }));
  const keys = await keysOfRoutes(routes, own);
  expect(keys).toEqual(expect.arrayContaining(names.map((name) => `/${name}/*`)));
  expect(keys.length).toBeLessThan(10_000);
  expect(own.warnings).toContain(
    "too many paths lead to /about: any path that a rewrite matches may exist",
  );
});

test("adds catch-all redirects only where their target exists", async () => {
  const own = options();
  const headers = (location: string) => ({ headers: { Location: location }, status: 308 });
  // The routes that `cleanUrls` and `trailingSlash` in vercel.json produce.
  const routes = [
    { src: "^/(?:(.+)/)?index(?:\\.html)?/?$", ...headers("/$1") },
    { src: "^/(.*)\\.html/?$", ...headers("/$1") },
    { src: "^/(.*)\\/$", ...headers("/$1") },
    { src: "^/((?:[^/]+/)*[^/\\.]+)$", ...headers("/$1/") },
    { src: "^(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))/$", ...headers("/$1"), continue: true },
  ];
  const keys = await keysOfRoutes(routes, own);
  expect(keys).toEqual(
    expect.arrayContaining(["/about.html", "/about/index", "/about/index.html", "/index.html"]),
  );
  expect(keys.filter((key) => key.includes("*"))).toEqual([]);
  expect(own.warnings).toEqual([]);
});

test("warns about a catch-all route", async () => {
  for (const route of [
    { src: "/(.*)", dest: "/about" },
    { src: "/.*", dest: "/about" },
    { src: "/(.*)", dest: "https://example.com/$1" },
    { src: "/page-(.*)", dest: "/about" },
  ]) {
    const own = options();
    expect(await keysOfRoutes([route], own)).toContain("/*");
    expect(own.warnings).toEqual([`the route ^${route.src}$ may answer any path`]);
  }
});

test("names the option that leaves out middleware that matches any path", async () => {
  const own = options();
  const route = { src: "/(.*)", middlewarePath: "middleware", continue: true };
  expect(await keysOfRoutes([route], own)).toContain("/*");
  expect(own.warnings).toEqual([
    "the route ^/(.*)$ may answer any path; pass --ignore-middleware if it only adds headers or rejects paths",
  ]);
});

test("warns about a rewrite into a wildcard", async () => {
  const own = options();
  const config = { routes: [{ src: "/(.*)", dest: "/en/$1" }] };
  const keys = await keysOf(config, { "functions/en/[page].func/index.js": "" }, own);
  expect(keys).toEqual(["/", "/*", "/en/*"]);
  expect(own.warnings).toEqual(["the route ^/(.*)$ may lead any path to /en/*"]);
});

test("leaves out middleware with --ignore-middleware", async () => {
  const own = options({ ignoreMiddleware: true });
  const route = { src: "/(.*)", middlewarePath: "middleware", continue: true };
  expect(await keysOfRoutes([route], own)).toEqual([]);
  expect(own.warnings).toEqual([]);
});

test("expands $wildcard to the value of each host", async () => {
  const config = {
    wildcard: [
      { domain: "example.com", value: "" },
      { domain: "example.fr", value: "/fr" },
    ],
    routes: [{ src: "/(.*)", dest: "$wildcard/$1" }],
  };
  const files = { "functions/fr/page.func/index.js": "", "functions/about.func/index.js": "" };
  expect(await keysOf(config, files)).toEqual(["/about", "/fr/page", "/page"]);
});

test("ignores routes for the data requests of the Next.js client", async () => {
  const has = (key: string) => [{ type: "header", key }];
  const routes = [
    { src: "^/((?!.+\\.rsc).+?)(?:/)?$", has: has("rsc"), dest: "/$1.rsc", continue: true },
    { src: "^/((?!_next/)(?:.*))/?$", has: has("x-nextjs-data"), dest: "/_next/data/B/$1.json" },
    { src: "^/_next/data/B/(.*).json$", has: has("x-nextjs-data"), dest: "/$1", continue: true },
    { src: "^/_next/data/B/(.*).json$", dest: "/__next_data_catchall" },
  ];
  const own = options();
  expect(await keysOfRoutes(routes, own)).toEqual(["/", "/_next/data/B/*", "/_next/data/b/*"]);
  expect(own.warnings).toEqual([]);
});

test("refuses a malformed build output", async () => {
  const outputOf = (config: string) => buildOutput(makeTree({ "config.json": config }), options());
  await expectError(outputOf("{"), "config.json: expected JSON");
  await expectError(outputOf("[]"), "config.json: expected an object, found []");
  await expectError(outputOf("null"), "config.json: version: expected 3, found nothing");
  await expectError(outputOf('{ "version": 2 }'), "config.json: version: expected 3, found 2");
  const routesOf = (routes: string) => outputOf(`{ "version": 3, "routes": ${routes} }`);
  await expectError(routesOf('"/"'), "config.json: routes: expected a list");
  await expectError(routesOf("[7]"), "routes[0]: expected an object, found 7");
  await expectError(routesOf('[{ "dest": "/a" }]'), "src: expected a string, found nothing");
  await expectError(routesOf('[{ "src": "/(", "dest": "/a" }]'), "expected a regular expression");
  const nested = "(".repeat(5000) + ")".repeat(5000);
  await expectError(routesOf(`[{ "src": "${nested}", "dest": "/a" }]`), "a regular expression");
  await expectError(routesOf('[{ "src": 1, "dest": "/a" }]'), "expected a string, found 1");
  await expectError(
    outputOf('{ "version": 3, "overrides": { "a": { "path": 1 } } }'),
    "overrides: a: path: expected a string, found 1",
  );
});

test("reads or refuses arbitrary routes without crashing", async () => {
  const text = fc.oneof(
    fc.constantFrom("/(.*)", "^/(?:a|b)?/(?<x>.+)$", "/$1", "/$x.html", "https://a/$1", "(", "$"),
    fc.string(),
  );
  const value = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue());
  const names = [
    "src",
    "dest",
    "status",
    "headers",
    "has",
    "continue",
    "check",
    "handle",
    "locale",
  ];
  const route = fc.dictionary(fc.constantFrom(...names), value);
  const root = makeTree({ "static/a/b.html": "", "functions/c/[d].func/index.js": "" });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(route, fc.jsonValue()), { maxLength: 4 }),
      async (routes) => {
        writeFileSync(`${root}/config.json`, JSON.stringify({ version: 3, routes }));
        const keys = keysIn(buildOutput(root, options()));
        await keys.catch((error) => expect(error).toBeInstanceOf(CliError));
      },
    ),
    { numRuns: 300 },
  );
});
