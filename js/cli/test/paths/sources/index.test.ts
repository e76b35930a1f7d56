import { join } from "node:path";

import { expect, test } from "vitest";

import { CliError } from "../../../src/error.js";
import { detectKind, keysOf } from "../../../src/paths/sources/index.js";
import { makeTree } from "../../support/tree.js";

const OPTIONS = { cleanUrls: false, ignoreHosts: true, ignoreMiddleware: false, warn: () => {} };

test("detects the kind of a source", () => {
  const root = makeTree({
    "plain/index.html": "",
    "site/config.json": { json: { version: 2 } },
    "site/static/a.css": "",
    "broken/config.json": "{",
    "broken/static/a.css": "",
    "output/config.json": { json: { version: 3 } },
    "output/functions/": "",
    ".vercel/output/index.html": "",
    ".next/BUILD_ID": "x",
    ".next/routes-manifest.json": "{}",
    "half/BUILD_ID": "x",
    "paths.txt": "",
    "sitemap.xml": "",
    "sitemap.XML.gz": "",
  });
  const kinds = {
    plain: "directory",
    site: "directory",
    broken: "directory",
    output: "build-output",
    ".vercel/output": "build-output",
    ".next": "next",
    ".next/": "next",
    half: "directory",
    "paths.txt": "list",
    "sitemap.xml": "sitemap",
    "sitemap.XML.gz": "sitemap",
  };
  for (const [path, kind] of Object.entries(kinds)) {
    expect(detectKind(join(root, path)), path).toBe(kind);
  }
  expect(detectKind("-")).toBe("list");
});

test("asks for --source-kind where the kind cannot be detected", () => {
  const root = makeTree({ "paths.csv": "" });
  const errorOf = (path: string) => {
    try {
      return detectKind(join(root, path));
    } catch (error) {
      return error;
    }
  };
  expect(errorOf("paths.csv")).toMatchObject({ code: "ERR_USAGE", exitCode: 2 });
  expect(errorOf("missing.txt")).toBeInstanceOf(CliError);
  expect(errorOf("missing.txt")).toMatchObject({ code: "ERR_SOURCE", exitCode: 3 });
  const missing = join(root, "missing.csv");
  const expected = "expected a directory, a sitemap or a list of paths: ENOENT";
  expect(() => keysOf("list", missing, OPTIONS)).toThrow(`${missing}: ${expected}`);
});
