import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { directory } from "../../../src/paths/sources/directory.js";
import { keysIn, options } from "../../support/keys.js";
import { makeTree } from "../../support/tree.js";

const plain = options();

test("adds files at their paths and an index at its directory too", async () => {
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

test("adds pages without .html with --clean-urls", async () => {
  const root = makeTree({ "about.html": "", "docs/index.html": "", "feed.xml": "" });
  expect(await keysIn(directory(root, options({ cleanUrls: true })))).toEqual([
    ...["/about", "/about.html", "/docs", "/docs/index", "/docs/index.html", "/feed.xml"],
  ]);
});

test("adds hidden files but no version control directories", async () => {
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

test("treats file names as text, not as URLs", async () => {
  const root = makeTree({ "100%.txt": "", "a?b#c": "", "a b/é.txt": "", "%41": "", "x%2Fy": "" });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/%2541", "/100%25.txt", "/a b/é.txt", "/a%3Fb%23c", "/x%252Fy"],
  ]);
});

test("percent-encodes names that are not UTF-8", async () => {
  const root = makeTree();
  writeFileSync(Buffer.concat([Buffer.from(`${root}/a`), Buffer.of(0xff, 0x20)]), "");
  expect(await keysIn(directory(root, plain))).toEqual(["/a%FF "]);
});

test("finds .html in names that are not UTF-8", async () => {
  const root = makeTree();
  const folder = Buffer.concat([Buffer.from(`${root}/é`), Buffer.of(0xc3)]);
  mkdirSync(folder);
  writeFileSync(Buffer.concat([folder, Buffer.from("/index.html")]), "");
  writeFileSync(
    Buffer.concat([folder, Buffer.from("/a"), Buffer.of(0xff), Buffer.from(".html")]),
    "",
  );
  writeFileSync(Buffer.concat([folder, Buffer.from("/\ufffd.html")]), "");
  expect(await keysIn(directory(root, options({ cleanUrls: true })))).toEqual([
    ...["/é%C3", "/é%C3/a%FF", "/é%C3/a%FF.html", "/é%C3/index", "/é%C3/index.html"],
    ...["/é%C3/\ufffd", "/é%C3/\ufffd.html"],
  ]);
});

test("keeps a byte order mark in a file name", async () => {
  const root = makeTree({ "\ufeffa.html": "", "\ufeffb/\ufeff": "", "\ufeff.git/x": "" });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/\ufeff.git/x", "/\ufeffa.html", "/\ufeffb/\ufeff"],
  ]);
});

test("escapes a star in a file name", async () => {
  const root = makeTree({
    "*": "",
    "x*": "",
    "*x": "",
    "a/*/index.html": "",
    "a/*/*": "",
    "b/*": { link: "../b" },
  });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/%2A", "/*x", "/a/%2A", "/a/*/%2A", "/a/*/index.html", "/b/%2A", "/b/*/*", "/x*"],
  ]);
});

test("adds sockets and pipes like files", async () => {
  const root = makeTree({ empty: { link: "/dev/null" } });
  expect(await keysIn(directory(root, plain))).toEqual(["/empty"]);
});

test("resolves links and skips dangling ones", async () => {
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

test("adds a page and a wildcard for a link to a parent directory", async () => {
  const root = makeTree({
    "a/page.html": "",
    "a/b/up": { link: ".." },
    "a/b/top": { link: "../.." },
    self: { link: "." },
  });
  expect(await keysIn(directory(root, plain))).toEqual([
    ...["/a/b/top", "/a/b/top/*", "/a/b/up", "/a/b/up/*", "/a/page.html", "/self", "/self/*"],
  ]);
});

test("ends the walk when directories link to each other", async () => {
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
