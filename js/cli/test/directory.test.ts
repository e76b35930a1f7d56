import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { directory } from "../src/paths/sources/directory.js";
import { keysIn } from "./support/keys.js";
import { makeTree } from "./support/tree.js";

const plain = { cleanUrls: false };

test("files are at their paths, and an index at its directory as well", async () => {
  const root = makeTree({
    "index.html": "",
    "about/index.html": "",
    "about/team.html": "",
    "assets/app.js": "",
    "empty/": "",
  });
  const keys = ["/", "/about", "/about/index.html", "/about/team.html", "/assets/app.js"];
  expect(await keysIn(directory(root, plain))).toEqual([...keys, "/index.html"]);
});

test("with clean URLs, pages answer without .html as well", async () => {
  const root = makeTree({ "about.html": "", "docs/index.html": "", "feed.xml": "" });
  expect(await keysIn(directory(root, { cleanUrls: true }))).toEqual([
    ...["/about", "/about.html", "/docs", "/docs/index", "/docs/index.html", "/feed.xml"],
  ]);
});

test("hidden files count, what version control keeps does not", async () => {
  const root = makeTree({
    ".well-known/security.txt": "",
    ".hidden": "",
    ".git/config": "",
    "sub/.svn/entries": "",
    ".hg/store": "",
    ".gitignore": "",
  });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/.gitignore", "/.hidden", "/.well-known/security.txt"],
  ]);
});

test("names are text, not URLs", async () => {
  const root = makeTree({ "100%.txt": "", "a?b#c": "", "a b/é.txt": "", "%41": "", "x%2Fy": "" });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/%2541", "/100%25.txt", "/a b/é.txt", "/a%3Fb%23c", "/x%252Fy"],
  ]);
});

test.runIf(process.platform === "linux")("names that are not UTF-8 are bytes", async () => {
  const root = makeTree();
  writeFileSync(Buffer.concat([Buffer.from(`${root}/a`), Buffer.of(0xff, 0x20)]), "");
  expect(await keysIn(directory(root, plain))).toEqual(["/a%FF "]);
});

test("links count as what they lead to, and not if that is nothing", async () => {
  const outside = makeTree({ "page.html": "" });
  const root = makeTree({
    "real/a.txt": "",
    "file.txt": { link: "real/a.txt" },
    folder: { link: "real" },
    outside: { link: outside },
    nowhere: { link: "missing" },
    itself: { link: "itself" },
    through: { link: "real/a.txt/b" },
  });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/file.txt", "/folder/a.txt", "/outside/page.html", "/real/a.txt"],
  ]);
});

test("a link to a directory that contains it is a wildcard", async () => {
  const root = makeTree({
    "a/page.html": "",
    "a/b/up": { link: ".." },
    "a/b/top": { link: "../.." },
    self: { link: "." },
  });
  const keys = ["/a/b/top/*", "/a/b/up/*", "/a/page.html", "/self/*"];
  expect(await keysIn(directory(root, plain))).toEqual(keys);
});

test("directories that link to each other come to an end", async () => {
  const names = Array.from("abcdef");
  const links = names.flatMap((from) =>
    names.filter((to) => to !== from).map((to) => [`${from}/${to}`, { link: `../${to}` }] as const),
  );
  const root = makeTree(Object.fromEntries(links));
  const keys = await keysIn(directory(root, plain));
  expect(keys).toContain("/a/b/a/*");
  expect(keys).toContain("/a/b/c/d/e/f/*");
  expect(keys.every((key) => key.split("/").length <= 8)).toBe(true);
});
