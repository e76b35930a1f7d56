/** The files in which hosts state the paths that they answer, of a directory. */
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";

import { MAX_HOST_FILE } from "../../../src/paths/hosts/index.js";
import {
  MAX_HOST_KEYS,
  MAX_MAPPINGS,
  MAX_PATTERN_DEPTH,
  MAX_PATTERN_LENGTH,
} from "../../../src/paths/hosts/rules.js";
import { directory } from "../../../src/paths/sources/directory.js";
import { keysIn, options } from "../../support/keys.js";
import { makeTree, type Tree } from "../../support/tree.js";

/** Returns the keys that a file adds to a directory, and the warnings, without the path of the directory. */
async function readOf(name: string, content: Tree[string], more: Tree = {}, own = options()) {
  const root = makeTree({ [name]: content, ...more });
  const keys = await keysIn(directory(root, own));
  const files = new Set([name, ...Object.keys(more)].map((file) => `/${file}`));
  return {
    keys: keys.filter((key) => !files.has(key)),
    warnings: own.warnings.map((warning) => warning.replaceAll(`${root}/`, "")),
  };
}

const anyPath = (file: string, source: string) =>
  `${file}: the rule ${source} may answer any path; pass --ignore-hosts if this host does not serve the site`;

describe("_redirects", () => {
  test.for<[line: string, keys: string[]]>([
    ["/old /new", ["/old"]],
    ["/old /new 301", ["/old"]],
    ["/old https://other.example/ 307!", ["/old"]],
    ["/app/* /app/shell.html 200", ["/app", "/app/*"]],
    ["/blog/:year/:slug /posts/:slug", ["/blog/*"]],
    ["/files/*.zip /archive/:splat", ["/files/*"]],
    ["/caf%C3%A9/Menu /menu", ["/café/Menu", "/café/menu"]],
    ["/a/../b /c", ["/b"]],
    ["/store id=:id /blog/:id 301", ["/store"]],
    ["/page?x=1 /other", ["/page"]],
    ["/x /y 302 Country=fr Language=fr", ["/x"]],
    ["/x /y 301 # a comment", ["/x"]],
    ["  /x\t/y\r", ["/x"]],
    ["https://old.example/a/* https://new.example/:splat 301!", ["/a", "/a/*"]],
    ["/api/* /.netlify/functions/:splat 200", ["/.netlify/*", "/api", "/api/*"]],
    ["/a/:constructor/:__proto__ /:constructor", ["/a/*"]],
    ["/a(b)[c]{d,@(e)}|f+ /g", ["/a(b)[c]{d,@(e)}|f+"]],
    ["# /a /b", []],
    ["/gone / 410", []],
    ["/* /404.html 404", []],
    ["/secret 403", ["/secret"]],
    ["/:page /index.html 404!", []],
  ])("%s", async ([line, keys]) => {
    const { keys: found, warnings } = await readOf("_redirects", `${line}\n`);
    expect({ found, warnings }).toEqual({ found: keys, warnings: [] });
  });

  test("maps any path to those that exist", async () => {
    const redirects = "/* /en/:splat 200\n/*.htm /:splat.html\n";
    const { keys, warnings } = await readOf("_redirects", redirects, { "en/about.html": "" });
    const withoutHtml = ["/about", "/en/about"];
    const paths = ["/", "/about.htm", "/about.html", "/en/about.htm", ...withoutHtml];
    expect(keys).toEqual(paths.sort());
    expect(warnings).toEqual([]);
  });

  test.for([
    "/* /index.html 200",
    "/* https://new.example/:splat",
    "/:a/b /c?a=:a",
    "/news* /blog",
  ])("warns that any path may exist: %s", async (line) => {
    const { keys, warnings } = await readOf("_redirects", line);
    expect(keys).toContain("/*");
    expect(warnings).toEqual([anyPath("_redirects", line.split(" ")[0]!)]);
  });

  test("warns of a line that it does not understand, without quoting it", async () => {
    const { keys, warnings } = await readOf("_redirects", "/a /b\n\nsecret: 1\n/only\n");
    expect(keys).toEqual(["/a"]);
    expect(warnings).toEqual(
      [3, 4].map(
        (line) =>
          `_redirects: line ${line}: expected a path and where it leads; the filter lacks its paths`,
      ),
    );
  });
});

test("adds what netlify.toml states", async () => {
  const toml = `
    [build]
    publish = "dist"
    [[redirects]]
    from = "/old/:id"
    to = "/new/:id"
    status = 302
    force = true
    conditions = { Language = ["fr"] }
    [[redirects]]
    from = "/missing"
    to = "/404.html"
    status = 404
    [[edge_functions]]
    path = ["/hello", "/edge/*"]
    function = "hello"
    [[edge_functions]]
    pattern = "/v(1|2)/x"
    function = "version"
    [[headers]]
    for = "/*"
    [headers.values]
    X-A = "1"`;
  const { keys, warnings } = await readOf("netlify.toml", toml);
  const edge = ["/edge", "/edge/*", "/hello"];
  expect(keys).toEqual(["/", "/*", "/.netlify/*", ...edge, "/old/*"]);
  expect(warnings).toHaveLength(1);
  const own = options({ ignoreMiddleware: true });
  const without = await readOf("netlify.toml", toml, {}, own);
  expect(without).toEqual({ keys: ["/.netlify/*", "/old/*"], warnings: [] });
});

describe("vercel.json", () => {
  test.for<[source: string, destination: string, keys: string[]]>([
    ["/old", "/new", ["/old"]],
    ["/blog/:slug", "/posts/:slug", ["/blog/*"]],
    ["/docs/:path*", "/guide/:path*", ["/docs", "/docs/*"]],
    ["/docs/:path+", "/guide/:path*", ["/docs/*"]],
    ["/shop/:item?", "/items", ["/shop", "/shop/*"]],
    ["/:lang(en|fr)/about", "/about?lang=:lang", ["/en/about", "/fr/about"]],
    ["/api/((?!auth).*)", "https://api.example/$1", ["/api", "/api/*"]],
    ["/a{/b}?", "/c", ["/a", "/a/b"]],
    ["/a\\(b\\)", "/c", ["/a(b)"]],
    ["/:path((?!en/|fr/).*)", "/en/:path", ["/about.html"]],
    ["/:path*", "/en/:path*", ["/", "/about.html"]],
    ["/:path+", "/en/:path+", ["/about.html"]],
  ])("%s to %s", async ([source, destination, keys]) => {
    for (const name of ["redirects", "rewrites"]) {
      const json = { [name]: [{ source, destination }] };
      const { keys: found, warnings } = await readOf(
        ...(["vercel.json", { json }, { "en/about.html": "" }] as const),
      );
      expect({ found, warnings }).toEqual({ found: ["/_vercel/*", ...keys].sort(), warnings: [] });
    }
  });

  test("adds clean URLs, functions and the older routes", async () => {
    const json = {
      cleanUrls: true,
      routes: [{ src: "/old", status: 301, headers: { Location: "/new" } }, { handle: "error" }],
    };
    const more = { "about.html": "", "api/hello.js": "" };
    const { keys, warnings } = await readOf("vercel.json", { json }, more);
    expect(keys).toEqual(["/_vercel/*", "/about", "/api/*", "/old"]);
    expect(warnings).toEqual([]);
  });
});

test("adds what firebase.json states of the site of a directory", async () => {
  const site = {
    public: "",
    cleanUrls: true,
    redirects: [
      { source: "/foo{,/**}", destination: "/bar", type: 301 },
      { source: "/blog/:post*", destination: "https://blog.example/:post", type: 302 },
      { source: "/@(a|b)/:id(\\d+)", destination: "/", type: 301 },
      { regex: "^/(?P<x>v1)$", destination: "/", type: 301 },
      { regex: "(?i)/v2", destination: "/", type: 301 },
    ],
    rewrites: [
      { source: "api/**", function: { functionId: "api" } },
      { regex: "^/run/.+$", run: { serviceId: "run" } },
      { glob: "/old", destination: "/about.html" },
      { source: "/docs/page{1..3}", destination: "/about.html" },
    ],
  };
  const other = { public: "other", rewrites: [{ source: "**", destination: "/index.html" }] };
  const json = { hosting: [site, other] };
  const { keys, warnings } = await readOf("firebase.json", { json }, { "about.html": "" });
  expect(keys).toEqual(
    [
      ...["/.well-known/apple-app-site-association", "/.well-known/assetlinks.json", "/__/*"],
      ...["/a/*", "/about", "/api", "/api/*", "/apple-app-site-association", "/b/*", "/blog"],
      ...["/blog/*", "/docs/*", "/foo", "/foo/*", "/old", "/run/*", "/v1"],
    ].sort(),
  );
  expect(warnings).toEqual([
    "firebase.json: expected a pattern, found (?i)/v2; the filter lacks its paths",
  ]);
});

test("lets any path exist for a glob of firebase.json that begins with an exclamation mark", async () => {
  const source = "!/@(js|css)/**";
  const json = { hosting: { rewrites: [{ source, destination: "/index.html" }] } };
  const { keys, warnings } = await readOf("firebase.json", { json });
  expect(keys).toContain("/*");
  expect(warnings).toEqual([anyPath("firebase.json", source)]);
});

test.for([
  ["_redirects", "/old /new"],
  ["netlify.toml", ""],
  ["staticwebapp.config.json", "{}"],
] as const)("adds pages without .html, as the host of %s answers them", async ([name, content]) => {
  const { keys } = await readOf(name, content, { "about.html": "" });
  expect(keys).toContain("/about");
});

test("adds what staticwebapp.config.json states", async () => {
  const name = "staticwebapp.config.json";
  const routes = [
    { route: "/login", rewrite: "/.auth/login/github" },
    { route: "/old/*", redirect: "/new", statusCode: 301 },
    { route: "/images/*.{png,jpg}", headers: { "cache-control": "max-age=60" } },
    { route: "/none", statusCode: 404 },
  ];
  const responseOverrides = { "404": { rewrite: "/404.html" } };
  const { keys, warnings } = await readOf(name, { json: { routes, responseOverrides } });
  expect(keys).toEqual(["/.auth/*", "/api/*", "/login", "/old", "/old/*"]);
  expect(warnings).toEqual([]);
  for (const json of [
    { navigationFallback: { rewrite: "/index.html" } },
    { responseOverrides: { "404": { rewrite: "/index.html", statusCode: 200 } } },
    { responseOverrides: { "404": { redirect: "/" } } },
  ]) {
    const any = await readOf(name, { json });
    expect([any.keys.includes("/*"), any.warnings]).toEqual([true, [anyPath(name, "/*")]]);
  }
});

test("reads files above a directory, up to the working directory", async () => {
  const project = makeTree({
    "vercel.json": { json: { redirects: [{ source: "/old", destination: "/" }] } },
    "a/b/index.html": "",
    "a/netlify.toml": '[[redirects]]\nfrom = "/toml"\nto = "/"',
    "a/_redirects": "/elsewhere /",
  });
  const before = process.cwd();
  const keysFrom = async (folder: string) => {
    process.chdir(join(project, folder));
    try {
      return await keysIn(
        directory(relative(join(project, folder), join(project, "a/b")) || ".", options()),
      );
    } finally {
      process.chdir(before);
    }
  };
  const [index, toml] = [
    ["/", "/index.html"],
    ["/.netlify/*", "/index", "/toml"],
  ];
  expect(await keysFrom("")).toEqual([...index, ...toml, "/_vercel/*", "/old"].sort());
  expect(await keysFrom("a")).toEqual([...index, ...toml].sort());
  expect(await keysFrom("a/b")).toEqual(index);
  expect(await keysIn(directory(join(project, "a/b"), options()))).toEqual(index);
});

test("leaves out what hosts state with --ignore-hosts", async () => {
  const own = options({ ignoreHosts: true });
  const files = { _redirects: "/* /index.html 200", ".htaccess": "", "vercel.json": "{" };
  const { keys, warnings } = await readOf("index.html", "", files, own);
  expect([keys, warnings]).toEqual([["/"], []]);
});

test("names the files of hosts that it does not read", async () => {
  const others = { _headers: "/*\n  X-A: 1\n", "netlify/functions/a.mjs": "" };
  const more = { ".htaccess": "", "_worker.js/index.js": "", ...others };
  const { keys, warnings } = await readOf("_routes.json", "{}", more);
  expect(keys).toEqual([]);
  expect(warnings).toEqual(
    ["_routes.json", "_worker.js", ".htaccess", "netlify/functions"].map(
      (name) => `${name} may answer further paths, and is not read: add them as a list`,
    ),
  );
});

describe("leaves out a file that it cannot read, and warns", () => {
  test.for<[name: string, content: Tree[string], message: string]>([
    ["vercel.json", "{", "vercel.json: expected JSON: "],
    ["vercel.json", { json: [] }, "vercel.json: expected an object, found []"],
    ["vercel.json", { json: { rewrites: [{}] } }, "rewrites[0]: source: expected a string"],
    ["netlify.toml", "[[redirects]\nsecret", "netlify.toml: expected TOML: Invalid TOML document"],
    ["netlify.toml", `a = ${"[".repeat(100_000)}`, "netlify.toml: expected TOML: "],
    ["firebase.json", { json: { hosting: 7 } }, "hosting: expected an object, found 7"],
    ["_redirects", Buffer.of(0x2f, 0xff), "_redirects: expected UTF-8: "],
    ["_redirects", { link: "/dev/zero" }, "_redirects: expected a file"],
  ])("%s %j", async ([name, content, message]) => {
    const { keys, warnings } = await readOf(name, content);
    expect(keys).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(message)]);
    expect(warnings[0]).toMatch(/; the filter lacks the paths that the file adds$/);
    expect(warnings[0]).not.toContain("secret");
  });
});

describe("bounds what a file may cost", () => {
  test("reads a file of the maximum size and no larger one", async () => {
    const padded = (size: number) => `/old /new\n#${"x".repeat(size - 11)}`;
    expect((await readOf("_redirects", padded(MAX_HOST_FILE))).keys).toEqual(["/old"]);
    const { keys, warnings } = await readOf("_redirects", padded(MAX_HOST_FILE + 1));
    expect(keys).toEqual([]);
    expect(warnings[0]).toContain(`expected at most ${MAX_HOST_FILE} bytes, found`);
  });

  test("reads a pattern of the maximum length and no longer one", async () => {
    // Two anchors.
    const path = `/${"a".repeat(MAX_PATTERN_LENGTH - 4)}`;
    expect((await readOf("_redirects", `${path} /`)).keys).toEqual([path]);
    const { keys, warnings } = await readOf("_redirects", `${path}a /`);
    expect(keys).toEqual([]);
    expect(warnings[0]).toContain("; the filter lacks its paths");
  });

  test("reads brackets of the maximum depth and no deeper ones", async () => {
    const redirectsOf = (depth: number) => {
      const source = `/x${"{".repeat(depth)}y${"}".repeat(depth)}`;
      return { json: { redirects: [{ source, destination: "/z" }] } };
    };
    expect((await readOf("vercel.json", redirectsOf(MAX_PATTERN_DEPTH))).keys).toContain("/xy");
    const { keys, warnings } = await readOf("vercel.json", redirectsOf(MAX_PATTERN_DEPTH + 1));
    expect(keys).not.toContain("/xy");
    expect(warnings[0]).toContain("; the filter lacks its paths");
  });

  test.for([
    [
      ...["rules that map any path", "_redirects", MAX_MAPPINGS],
      (rules: number[]) => rules.map((rule) => `/*${rule} /${rule}/:splat`).join("\n"),
    ],
    [
      ...["keys", "firebase.json", MAX_HOST_KEYS / 4096],
      (rules: number[]) => {
        const redirects = rules.map((rule) => ({ source: `${"{a,b}".repeat(12)}${rule}` }));
        return JSON.stringify({ hosting: { redirects } });
      },
    ],
  ] as [string, string, number, (rules: number[]) => string][])(
    "lets any path exist if there are too many %s",
    async ([, name, limit, contentOf]) => {
      const rules = Array.from({ length: limit + 1 }, (_, at) => at);
      const most = await readOf(name, contentOf(rules.slice(1)));
      expect([most.keys.includes("/*"), most.warnings]).toEqual([false, []]);
      const { keys, warnings } = await readOf(name, contentOf(rules));
      expect(keys).toContain("/*");
      expect(warnings).toEqual([`${name}: too many rules: any path may exist`]);
    },
  );

  test.for(["(", "{", "@(", "[", ":a(", "\\", "{a,", "!(a|"])("ends for many %s", async (part) => {
    for (const name of ["vercel.json", "firebase.json"]) {
      const routes = [1_300, MAX_HOST_FILE / 32].map((count) => {
        return { source: `/x/${part.repeat(count)}`, destination: "/y" };
      });
      const json = { redirects: routes, hosting: { redirects: routes } };
      const { keys, warnings } = await readOf(name, { json });
      expect(
        keys.includes("/x/*") || keys.some((key) => key.startsWith("/x/")) || warnings.length > 0,
      ).toBe(true);
    }
  });

  test("ends for many rules that match a long path in many ways", async () => {
    const source = `/x/${"(a|b)".repeat(12)}${"c".repeat(MAX_PATTERN_LENGTH - 200)}`;
    const redirects = Array.from({ length: 10 }, () => ({ source, destination: "/y" }));
    expect((await readOf("vercel.json", { json: { redirects } })).keys).toContain("/x/*");
  });

  test("ends where rules lead to each other", async () => {
    const loop = "/a /b\n/b /a\n/* /x:splat 200\n/x* /:splat\n";
    const { keys } = await readOf("_redirects", loop);
    expect(keys).toContain("/a");
  });
});
