/** `hedgerow/next` with the real `next/server`, without an app. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { packageFolder } from "./support/project.js";

/** Imports a packed package, since only they can resolve Next.js. */
const importPacked = (name: string, file: string) =>
  import(pathToFileURL(join(packageFolder(name), file)).href);

const { hedgerow } = await importPacked("hedgerow", "dist/adapters/next.js");
const { NextRequest, NextResponse } = await importPacked("next", "server.js");

const request = (headers: Record<string, string>) =>
  new NextRequest("http://localhost/", { headers });

test.each<[name: string, args: unknown[], code: string, part: string]>([
  ["no options", [], "ERR_OPTIONS", "expected options"],
  ["null as options", [null], "ERR_OPTIONS", "found null"],
  ["an array as options", [["x-a"]], "ERR_OPTIONS", "found an array"],
  ["neither headers nor paths", [{}], "ERR_OPTIONS", "expected headers, paths, or both"],
  ["an unknown option", [{ headers: ["x-a"], header: [] }], "ERR_OPTIONS", '"header"'],
  ["an invalid rule", [{ headers: ["a b"] }], "ERR_HEADER_RULE", "rule 0"],
  ["a number as paths", [{ paths: 7 }], "ERR_OPTIONS", "found number"],
  ["an object as proxy", [{ headers: ["x-a"] }, {}], "ERR_OPTIONS", "found object"],
  ["null as proxy", [{ headers: ["x-a"] }, null], "ERR_OPTIONS", "expected a function as proxy"],
])("refuses %s when the proxy is created", (_name, args, code, part) => {
  expect(() => hedgerow(...args)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(part) }),
  );
});

test("answers 400 to a request that nominates fields that frame or route it", async () => {
  let seen = 0;
  const proxy = hedgerow({ headers: ["connection"] }, () => {
    seen += 1;
  });
  for (const name of ["content-length", "host", "cookie"]) {
    const nominating = request({ connection: `close, ${name}`, [name]: "1" });
    expect((await proxy(nominating, {})).status).toBe(400);
  }
  expect([(await proxy(request({ connection: "x-a", "x-a": "1" }), {})).status, seen]).toEqual([
    200, 1,
  ]);
});

test("removes parsed cookies together with the stripped Cookie field", async () => {
  const given = request({ cookie: "session=forged", "x-kept": "1" });
  expect(given.cookies.has("session")).toBe(true);
  let seen: typeof given;
  const proxy = hedgerow({ headers: ["cookie"] }, (inbound: typeof given) => {
    seen = inbound;
  });
  const response = await proxy(given, {});
  expect([seen.cookies.has("session"), seen.headers.has("cookie")]).toEqual([false, false]);
  expect(response.headers.get("x-middleware-override-headers")).toBe("x-kept");
});

test.each<[name: string, init: object | undefined]>([
  ["the rules", undefined],
  ["the proxy", { request: { headers: new Headers() } }],
])("makes Next.js remove all fields of a request if %s leave none", async (_name, init) => {
  const options = { headers: { requests: { keep: [] } } };
  const proxy = hedgerow(options, () => NextResponse.next(init));
  const { headers } = await proxy(request({ "x-internal-user": "admin" }), {});
  // Next.js ignores an empty list, and removes a listed field without a value.
  expect(headers.get("x-middleware-override-headers")).toBe("host");
  expect(headers.has("x-middleware-request-host")).toBe(false);
});

test("keeps the fields on responses that instruct Next.js, and strips other internal ones", async () => {
  const headers = { "x-middleware-foo": "secret", "x-middleware-request-x-a": "1" };
  const proxy = hedgerow({ headers: ["x-middleware-*"] }, () => NextResponse.next({ headers }));
  const { headers: left } = await proxy(request({}), {});
  expect(left.get("x-middleware-next")).toBe("1");
  expect(left.get("x-middleware-request-x-a")).toBe("1");
  expect(left.has("x-middleware-foo")).toBe(false);
});

test("strips fields from an origin's response that would instruct Next.js", async () => {
  const answer = () => new Response("", { headers: { "x-middleware-rewrite": "/admin" } });
  const { headers } = await hedgerow({ headers: ["x-middleware-*"] }, answer)(request({}), {});
  expect([...headers.keys()]).not.toContain("x-middleware-rewrite");
});

test.each<[name: string, init: object | undefined]>([
  ["sets nothing", undefined],
  ["sets request fields", { request: { headers: new Headers({ "x-kept": "2" }) } }],
])("returns to Next.js its own request fields after a proxy that %s", async (_name, init) => {
  const { preset } = await importPacked("hedgerow", "dist/adapters/next.js");
  let seen: ReturnType<typeof request> | undefined;
  const proxy = hedgerow({ headers: preset("next") }, (inbound: typeof seen) => {
    seen = inbound;
    return NextResponse.next(init);
  });
  const given = { "x-nextjs-data": "1", "x-middleware-subrequest": "middleware", "x-kept": "1" };
  const { headers } = await proxy(request(given), {});
  expect([...seen.headers.keys()]).toEqual(["x-kept"]);
  expect(headers.get("x-middleware-override-headers").split(/, ?/)).toEqual([
    "x-kept",
    "x-nextjs-data",
  ]);
  expect(headers.get("x-middleware-request-x-nextjs-data")).toBe("1");
});

const I18N = { locales: ["en", "fr-CA", "fr"], defaultLocale: "en" };

// The URLs that `next start` hands to a proxy, by the configuration of the site.
test.each<[handed: string, nextConfig: object, requested: string]>([
  ["/base/about", { basePath: "/base", i18n: I18N }, "/base/about"],
  ["/fr/base/fr/about?x=/fr", { basePath: "/base", i18n: I18N }, "/base/fr/about"],
  ["/fr/base/fr/about/", { basePath: "/base", i18n: I18N, trailingSlash: true }, "/base/fr/about"],
  ["/fr/base/fr", { basePath: "/base", i18n: I18N }, "/base/fr"],
  ["/fr-CA/a/b/fr-ca/caf%C3%A9", { basePath: "/a/b", i18n: I18N }, "/a/b/fr-CA/café"],
  ["/fr/base/fr//x.example/", { basePath: "/base", i18n: I18N }, "/base/fr/x.example"],
  ["/fr/base/fr/about", { i18n: I18N }, "/fr/base/fr/about"],
  ["/fr/basement/fr", { basePath: "/base", i18n: I18N }, "/fr/basement/fr"],
  ["/fr/base/fr/about", { basePath: "/base" }, "/fr/base/fr/about"],
])("looks up the path that was requested where Next.js hands over %s, with %j", async (...row) => {
  const [handed, nextConfig, requested] = row;
  const paths: string[] = [];
  const proxy = hedgerow({ paths: (path: string) => paths.push(path) > 0 });
  await proxy(new NextRequest(`http://localhost:3000${handed}`, { nextConfig }), {});
  expect(paths).toEqual([requested]);
});

test("lets Next.js skip a prefetch that its client marked", async () => {
  const { preset } = await importPacked("hedgerow", "dist/adapters/next.js");
  const given = { "x-middleware-prefetch": "1", "x-middleware-subrequest": "middleware" };
  const { headers } = await hedgerow({ headers: preset("next") })(request(given), {});
  expect(headers.get("x-middleware-override-headers")).toBe("x-middleware-prefetch");
  expect(headers.get("x-middleware-request-x-middleware-prefetch")).toBe("1");
});
