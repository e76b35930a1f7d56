import { normalizePath } from "hedgerow";
import { equal } from "../../support/assert.js";
import type { Cases } from "../case.js";

/** Asserts the normal form of each path, and that it does not change when normalised again. */
function assertNormal(cases: Readonly<Record<string, string>>): void {
  for (const [path, expected] of Object.entries(cases)) {
    equal(normalizePath(path), expected, path);
    equal(normalizePath(expected), expected, expected);
  }
}

export const pathNormalization: Cases = {
  "normalizePath returns a normal path unchanged": () => {
    assertNormal({
      "/": "/",
      "/about": "/about",
      "/a/b-c/d_e.html": "/a/b-c/d_e.html",
      "/café/😀": "/café/😀",
      "/.well-known/acme": "/.well-known/acme",
      "/a/...": "/a/...",
      "/blog/*": "/blog/*",
      "/Case/Is/Kept": "/Case/Is/Kept",
      "/a b+c": "/a b+c",
    });
  },

  "normalizePath removes repeated and trailing slashes, and adds a leading one": () => {
    assertNormal({ "": "/", "//": "/", "/a/": "/a", "//a///b//": "/a/b", a: "/a", "a/b": "/a/b" });
  },

  "normalizePath cuts off the query and the fragment": () => {
    assertNormal({
      "/a?b=/c/../d": "/a",
      "/a/?": "/a",
      "/a#b?c": "/a",
      "?": "/",
      "/?x": "/",
      "#/a": "/",
    });
  },

  "normalizePath decodes characters except those with a meaning in URLs": () => {
    assertNormal({
      "/caf%C3%A9": "/café",
      "/%F0%9F%98%80": "/😀",
      "/%7euser": "/~user",
      "/a%20b": "/a b",
      "/a%2fb": "/a%2Fb",
      "/a%3fb%23c": "/a%3Fb%23c",
      "/100%25": "/100%25",
      "/%2541": "/%2541",
      "/a%5Cb": "/a\\b",
      "/%00": "/\0",
    });
  },

  "normalizePath keeps bytes that are not UTF-8 encoded, in capital letters": () => {
    assertNormal({
      "/%ff": "/%FF",
      "/%e2%82": "/%E2%82",
      "/%c0%af": "/%C0%AF",
      "/%ed%a0%80": "/%ED%A0%80",
      "/%f4%90%80%80": "/%F4%90%80%80",
      "/%c3%a9%c3": "/é%C3",
    });
  },

  "normalizePath encodes a percent sign that begins no escape": () => {
    assertNormal({ "/100%": "/100%25", "/%zz": "/%25zz", "/%4": "/%254", "/%%41": "/%25A" });
  },

  "normalizePath decodes an asterisk except as the last segment": () => {
    assertNormal({
      "/%2A": "/%2A",
      "/a/%2a/?b": "/a/%2A",
      "/a/%2A/.": "/a/%2A",
      "/a/%2A/b/..": "/a/%2A",
      "/%2A/b": "/*/b",
      "/%2A/%2A": "/*/%2A",
      "/x%2A": "/x*",
      "/%2Ax": "/*x",
      "/*/": "/*",
    });
  },

  "normalizePath resolves dot segments, encoded or not, never above the root": () => {
    assertNormal({
      "/a/./b": "/a/b",
      "/a/../b": "/b",
      "/a/b/..": "/a",
      "/../../a": "/a",
      "/a/%2e%2E/b": "/b",
      "/a/%2e/b": "/a/b",
      "/a/..%2fb": "/a/..%2Fb",
      "/..": "/",
    });
  },

  "normalizePath gives the same result for a URL's text and its parsed path": () => {
    for (const path of ["/a b/é", "/a/./../b//c/", "/%7e/%2F", "/x?y#z", "/a\tb", "/ü%zz"]) {
      const url = new URL(path, "http://localhost");
      equal(normalizePath(url.pathname), normalizePath(path.replace("\t", "")), path);
    }
  },

  "normalizePath takes linear time": () => {
    const long = `${"/%41/%2e%2e".repeat(20_000)}/%`;
    equal(normalizePath(long), "/%25");
    equal(normalizePath("/".repeat(200_000)), "/");
    const normal = "/a".repeat(200_000);
    equal(normalizePath(normal), normal);
    equal(normalizePath(`${normal}/b/..`), normal);
    equal(normalizePath(normal + "/..".repeat(199_999)), "/a");
    equal(normalizePath("%".repeat(200_000)).length, 600_001);
  },
};
