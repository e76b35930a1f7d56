/** No link of a document leads nowhere. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { markdownFiles } from "./documents.js";
import { anchorsOf, linksOf } from "./links.js";

/** Hosts from which packages are fetched, of which documents say nothing: mirrors take their place. */
const REGISTRY = /^(registry|index|static|proxy|deb|security|files)\./;

/** What is wrong with a link of a document, if anything is. */
function faultOf(document: string, url: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:/i.test(url)) return faultOfExternal(url);
  const [path = "", anchor] = url.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), decodeURI(path)));
  if (path.startsWith("/") || target.startsWith("..")) return "leaves the repository";
  if (!existsSync(inRoot(target))) return `expected ${target}`;
  if (anchor === undefined) return;
  // Of a folder, GitHub shows the README.
  const shown = statSync(inRoot(target)).isDirectory() ? join(target, "README.md") : target;
  if (!shown.endsWith(".md") || !existsSync(inRoot(shown))) return `expected a document, ${shown}`;
  return anchorsOf(shown).has(anchor) ? undefined : `expected a heading #${anchor} in ${shown}`;
}

/** Nothing is asked for over a network: only the form of a link is looked at. */
function faultOfExternal(url: string): string | undefined {
  if (!URL.canParse(url)) return "expected a URL";
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:") return "expected https:";
  return REGISTRY.test(hostname) ? "names a registry" : undefined;
}

test.for(markdownFiles())("all links of %s lead somewhere", (document) => {
  const faults = linksOf(document).flatMap(({ url, line }) => {
    const fault = faultOf(document, url);
    return fault === undefined ? [] : [`${document}:${line}: ${url}: ${fault}`];
  });
  expect(faults).toEqual([]);
});

test("a link that leads nowhere is found", () => {
  const faults = ["docs/none.md", "#none", "docs/vhs.md#none", "http://a.example", "/etc"];
  expect(faults.map((url) => faultOf("README.md", url) !== undefined)).toEqual(
    faults.map(() => true),
  );
  expect(faultOf("README.md", "docs/vhs.md#identity")).toBeUndefined();
});
