/** Every link of a document resolves. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { markdownFiles } from "./documents.js";
import { anchorsOf, linksOf } from "./links.js";

/** Package registries, which documents must not link to: readers may use mirrors. */
const REGISTRY = /^(registry|index|static|proxy|deb|security|files)\./;

/** Returns what is wrong with a link of a document, if anything. */
function faultOf(document: string, url: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:/i.test(url)) return faultOfExternal(url);
  const [path = "", anchor] = url.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), decodeURI(path)));
  if (path.startsWith("/") || target.startsWith("..")) return "leaves the repository";
  if (!existsSync(inRoot(target))) return `expected ${target}`;
  if (anchor === undefined) return;
  // GitHub shows the README of a folder.
  const shown = statSync(inRoot(target)).isDirectory() ? join(target, "README.md") : target;
  if (!shown.endsWith(".md") || !existsSync(inRoot(shown))) return `expected a document, ${shown}`;
  return anchorsOf(shown).has(anchor) ? undefined : `expected a heading #${anchor} in ${shown}`;
}

/** Checks the form of a link only, without the network. */
function faultOfExternal(url: string): string | undefined {
  if (!URL.canParse(url)) return "expected a URL";
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:") return "expected https:";
  return REGISTRY.test(hostname) ? "names a registry" : undefined;
}

test.for(markdownFiles())("every link of %s resolves", (document) => {
  const faults = linksOf(document).flatMap(({ url, line }) => {
    const fault = faultOf(document, url);
    return fault === undefined ? [] : [`${document}:${line}: ${url}: ${fault}`];
  });
  expect(faults).toEqual([]);
});

test("reports a link that does not resolve", () => {
  const faults = ["docs/none.md", "#none", "docs/vhs.md#none", "http://a.example", "/etc"];
  expect(faults.map((url) => faultOf("README.md", url) !== undefined)).toEqual(
    faults.map(() => true),
  );
  expect(faultOf("README.md", "docs/vhs.md#identity")).toBeUndefined();
});
