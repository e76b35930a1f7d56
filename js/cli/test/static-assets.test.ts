/** Paths that Workers static assets redirect, and a guard with a filter of their directory. */
import { get } from "node:http";
import { buildPathFilter, canExist, normalizePath, PathFilter } from "hedgerow";
import { Miniflare } from "miniflare";
import { expect, test } from "vitest";

import { directory } from "../src/paths/sources/directory.js";
import { keysIn } from "./support/keys.js";
import { makeTree } from "./support/tree.js";

/** The function of docs/path-filter.md. */
const normalize = (path: string) =>
  normalizePath(
    normalizePath(path)
      .replaceAll("%2F", "/")
      .replace(/(?:\/index)?(?:\.html)?$/, ""),
  );

const TARGETS = [
  ...["/", "/index", "/index.html", "/about", "/about/", "/about.html", "/about/index"],
  ...["/about/index.html", "/blog/first", "/blog/first/", "/blog/first.html"],
  ...["/blog/first/index", "/blog/first/index.html", "/dir/a.txt", "/dir%2Fa.txt"],
  ...["/nowhere", "/nowhere.html", "/dir/index.html"],
];

test("the aliases of Workers static assets are those of docs/path-filter.md", async () => {
  const root = makeTree({
    "index.html": "",
    "about.html": "",
    "blog/first/index.html": "",
    "dir/a.txt": "",
  });
  const keys = await keysIn(directory(root, { cleanUrls: true }));
  const filter = PathFilter.parse(buildPathFilter(keys));
  const server = new Miniflare({
    modules: true,
    script: "export default { fetch: (request, { ASSETS }) => ASSETS.fetch(request) }",
    compatibilityDate: "2026-04-01",
    host: "127.0.0.1",
    port: 0,
    cf: false,
    assets: {
      directory: root,
      binding: "ASSETS",
      routerConfig: { invoke_user_worker_ahead_of_assets: true, has_user_worker: true },
    },
  });
  try {
    const { hostname: host, port } = await server.ready;
    const statusOf = (path: string) =>
      new Promise<number>((resolve, reject) => {
        get({ host, port, path }, (answer) => {
          answer.resume();
          resolve(answer.statusCode!);
        }).on("error", reject);
      });
    const [lacking, answered, passing]: string[][] = [[], [], []];
    for (const target of TARGETS) {
      if (canExist(filter, normalize(target))) passing!.push(target);
      if ((await statusOf(target)) === 404) continue;
      answered!.push(target);
      if (!canExist(filter, normalizePath(target))) lacking!.push(target);
    }
    expect(lacking).toEqual([
      "/about/index",
      "/about/index.html",
      "/blog/first.html",
      "/dir%2Fa.txt",
    ]);
    expect(passing).toEqual(answered);
  } finally {
    await server.dispose();
  }
});
