import { canExist, normalizePath } from "hedgerow";
import { describe, expect, test } from "vitest";

import fc from "../../../../../tests/support/fast-check.js";
import { keysOfPage, keysOfPattern } from "../../../src/paths/keys.js";
import { Rewrite } from "../../../src/paths/routes/rewrites.js";

/** A path below any wildcard. */
const lookupOf = (keys: readonly string[]) => {
  const known = new Set(keys.map(normalizePath));
  return { has: (key: string) => known.has(key), wildcards: 64 };
};

const keysOf = (pattern: string) => [...new Set(keysOfPattern(pattern).map(normalizePath))].sort();

describe("the keys of a pattern", () => {
  test.for<[string, string[]]>([
    ["^/about$", ["/about"]],
    ["^/about(?:/)?$", ["/about"]],
    ["^/about/?$", ["/about"]],
    ["^/\\.well\\-known/a$", ["/.well-known/a"]],
    ["^/$", ["/"]],
    ["^$", ["/"]],
    ["^/?$", ["/"]],
    ["^/(a|b)/x$", ["/a/x", "/b/x"]],
    ["^/[ab]c$", ["/ac", "/bc"]],
    ["^/(?:en|fr\\-CA)?[/]?404/?$", ["/404", "/en/404", "/en404", "/fr-CA/404", "/fr-CA404"]],
    ["^/blog/([^/]+?)(?:/)?$", ["/blog/*"]],
    ["^/blog/(.*)$", ["/blog", "/blog/*"]],
    ["^/docs(?:/(.+?))?(?:/)?$", ["/docs", "/docs/*"]],
    ["^/docs(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?$", ["/docs", "/docs/*"]],
    ["^/(?!_next)(?=a)a\\b/b$", ["/a/b"]],
    ["^(/api/.*)$", ["/api", "/api/*"]],
    ["^/post-(\\d+)$", ["/*"]],
    ["^/a{3}$", ["/*"]],
    ["^/(.*)$", ["/", "/*"]],
    ["^/.+$", ["/*"]],
    ["^.*$", ["/", "/*"]],
    ["/unanchored$", ["/", "/*"]],
    ["^/open", ["/*"]],
    ["^/a|/b$", ["/", "/*"]],
    ["^/(x)\\1$", ["/*"]],
    ["^/a/(b|c/.*)$", ["/a/b", "/a/c", "/a/c/*"]],
    ["^/[abcdefghijkl]$", ["/*"]],
    ["^/[^a]$", ["/*"]],
    ["^/a{0}b$", ["/b"]],
  ])("%s", ([pattern, keys]) => {
    expect(keysOf(pattern)).toEqual(keys);
  });

  test("shortens a pattern with too many variations to a wildcard", () => {
    const locales = Array.from({ length: 200 }, (_, number) => `l${number}`).join("|");
    expect(keysOf(`^/(?:${locales})/about$`)).toHaveLength(200);
    expect(keysOf(`^/x/(?:${locales})/(?:${locales})/(?:${locales})$`)).toContain("/x/l0/*");
    expect(keysOf(`^/x${"(?:a|b|c|d)".repeat(40)}$`).length).toBeLessThanOrEqual(4096);
  });

  test("shortens variations with more than a mebicharacter together to wildcards", () => {
    // 256 variations of 4,096 characters, and of one more.
    const patternOf = (length: number) => `^/${"(?:a|b)".repeat(8)}${"c".repeat(length - 9)}$`;
    expect(keysOf(patternOf(4096))).toHaveLength(256);
    expect(keysOf(patternOf(4097))).toEqual(["/*"]);
  });

  test.for(["^/(", "^/[b-a]$", "^/(?P<name>a)$", "^/*+$", "^/(?<a>x)(?<a>y)$"])(
    "refuses the pattern %s",
    (pattern) => {
      expect(() => keysOfPattern(pattern)).toThrow(SyntaxError);
    },
  );
});

/** Patterns of frameworks, without assertions, for which no strings can be generated. */
const PATTERNS = [
  "^(?:/(en|fr\\-CA))/old(?:/)?$",
  "^/proxy(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?(?<suffix>\\.rsc|\\.segments/.+\\.segment\\.rsc)?$",
  "^(?:\\/(_next\\/data\\/[^/]{1,}))?\\/about(?:\\/((?:[^\\/]+?)(?:\\/(?:[^\\/]+?))*))?(\\.json)?[\\/]?$",
  "^[/]?(?<locale>en|fr)?/blog/(?<slug>[^/]+?)(?:/)?$",
  "^/(?:(.+)/)?index(?:\\.html)?/?$",
  "^/a(?:/b){0,3}c?/(?:x|y[0-9]*)+$",
  "^//?(?:en|fr)/(.*)$",
  "^/shop/(?:[a-z]{2}-)?item[0-9]+(?:/reviews)?$",
];

describe("the keys of a pattern cover every path that it matches", () => {
  test.for(PATTERNS)("%s", (pattern) => {
    const lookup = lookupOf(keysOfPattern(pattern));
    // Only paths that URL parsers leave unchanged.
    const path = fc
      .stringMatching(new RegExp(pattern))
      .filter((text) => !/[?#%]|\/\.{1,2}(\/|$)/.test(text));
    fc.assert(
      fc.property(path, (text) => canExist(lookup, normalizePath(text))),
      { numRuns: 500 },
    );
  });
});

describe("the keys of a page", () => {
  test.for<[string, string[]]>([
    ["/", ["/"]],
    ["/about", ["/about"]],
    ["/blog/[slug]", ["/blog/*"]],
    ["/[lang]/about", ["/*"]],
    ["/docs/[...all]", ["/docs/*"]],
    ["/shop/[[...rest]]", ["/shop/*", "/shop"]],
    ["/[[...rest]]", ["/*", "/"]],
    ["/a/(group)/@slot/b", ["/a/(group)/@slot/b"]],
    ["/user/[id].rsc", ["/user/*"]],
    ["/a/(.)[id]/b", ["/a/*"]],
  ])("%s", ([page, keys]) => {
    expect([...keysOfPage(page)]).toEqual(keys);
  });
});

describe("an inverted rewrite finds the paths that lead to a key", () => {
  const leadingTo = (key: string, pattern: string, destination: string) => {
    const read = Rewrite.read(pattern, destination);
    return read?.rules.flatMap((rule) => rule.keysFor(key)).sort();
  };

  test.for<[key: string, pattern: string, destination: string, keys: string[] | undefined]>([
    ["/en/about", "^/(.*)$", "/en/$1", ["/about"]],
    ["/fr/about", "^/(.*)$", "/en/$1", []],
    ["/about.html", "^/(.*)$", "/$1.html?x=$1", ["/about"]],
    ["/about", "^/(.*)\\.html$", "/$1", ["/about.html"]],
    ["/about", "^/((?:[^/]+/)*[^/\\.]+)$", "/$1/", ["/about"]],
    ["/about", "^/(?<path>.+?)/?$", "/$path", ["/about", "/about"]],
    ["/api/x", "^(/.*)$", "/api$1", ["/x"]],
    ["/x", "^/(en|fr)/(.*)$", "/$2", ["/en/x", "/fr/x"]],
    ["/fr/x", "^/x/(en|fr)/(.*)$", "/$1/$2", ["/x/fr/x"]],
    ["/b/x", "^/A/(.*)$", "/b/$1", ["/A/x", "/a/x"]],
    ["/about.rsc", "^/(.+)(\\.segments/.+)$", "/$1.rsc", ["/about.segments/*"]],
    ["/blog/*", "^/(.*)$", "/$1.rsc", ["/blog", "/blog/*"]],
    ["/en/blog/*", "^/(.*)$", "/en/$1", ["/blog/*"]],
    ["/en/*", "^/x/(.*)$", "/en/$1", ["/x", "/x/*"]],
    ["/u/admin/*", "^/([^/]+)$", "/u/$1/profile", ["/admin", "/admin", "/admin/*"]],
    ["/u/a-b/c/*", "^/(.+)$", "/u/$1-b/c/d", ["/a", "/a-b/c", "/a-b/c/*"]],
    ["/x/a/café", "^/(.*)$", "/x/$1/caf%C3%A9", ["/a"]],
    ["/x/a/café", "^/y/(.*)$", "/x/$1//caf%c3%a9/", ["/y/a"]],
    ["/x/a.b/50%25", "^/(.*)$", "/x/$1%2Eb/50%", ["/a"]],
    ["/é/a", "^/(.*)$", "/%C3%A9/$1/", ["/a"]],
    ["/y/a", "^/(.*)$", "/y/$1/../b", undefined],
    ["/x", "^/(.*)$", "/index", undefined],
    ["/x", "^/(.*)$", "/$2", undefined],
    ["/x", "^/(.*)$", "/$host/$1", undefined],
    ["/x", "^/(.+)/(.+)$", "/$1/$2", undefined],
    ["/x", "^/.*/(.+)$", "/$1", undefined],
    ["/x", "^/(?:/(x))*(.*)$", "/$1$2", undefined],
  ])("finds the paths to %s by a rewrite from %s to %s", ([key, pattern, destination, keys]) => {
    expect(leadingTo(key, pattern, destination)).toEqual(keys);
  });

  test("does not invert a rewrite that copies captures of too many variations", () => {
    const names = (of: string) => Array.from({ length: 100 }, (_, index) => of + index).join("|");
    const pattern = `^/(.*)/(${names("l")})/(${names("c")})$`;
    expect(Rewrite.read(pattern, "/$2/$1")).toBeDefined();
    expect(Rewrite.read(pattern, "/$3/$2/$1")).toBeUndefined();
    const many = `^/(.*)/(?:${Array.from({ length: 70 }, (_, a) => `(?:${names(`${a}-`)})`).join("|")}|(x))$`;
    expect(Rewrite.read(many, "/$2/$1")).toBeUndefined();
  });

  test.for<[pattern: string, destination: string]>([
    ["^/(.*)$", "/en/$1"],
    ["^/(?:(.+)/)?index(?:\\.html)?/?$", "/$1"],
    ["^/(en|fr)/(.*)$", "/$1/pages/$2.html"],
    ["^//?(?:en|fr)/(.*)$", "/$1"],
    ["^/([a-z]*)(/amp)?$", "/$1"],
    ["^/([a-z]+)/?$", "/en/$1/fr/index"],
  ])("finds every path that a rewrite from %s to %s applies to", ([pattern, destination]) => {
    const regex = new RegExp(pattern);
    const read = Rewrite.read(pattern, destination)!;
    const path = fc.stringMatching(/^\/(en\/|fr\/)?[a-z/]{0,6}(index(\.html)?|\/amp)?\/?$/);
    fc.assert(
      fc.property(path, (text) => {
        if (!regex.test(text)) return;
        const target = normalizePath(text.replace(regex, destination));
        const wildcards = Array.from(
          target.matchAll(/\/(?=.)/g),
          ({ index }) => `${target.slice(0, index)}/*`,
        );
        for (const key of [target, ...wildcards]) {
          const keys = [...read.keys, ...read.rules.flatMap((rule) => rule.keysFor(key))];
          expect(canExist(lookupOf(keys), normalizePath(text)), `${text} to ${key}`).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
