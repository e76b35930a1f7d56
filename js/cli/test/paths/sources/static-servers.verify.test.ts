/** A guard with a filter of a folder lets every path pass that a static file server answers. */
import { buildPathFilter, canExist, normalizePath, PathFilter } from "hedgerow";
import { describe, expect, test } from "vitest";

import { documentAt, rowsOf, section } from "../../../../../tests/support/document.js";
import { minutes, trials } from "../../../../../tests/support/trials.js";
import { directory } from "../../../src/paths/sources/directory.js";
import { makeHostileFolder, targetsOf } from "../../support/hostile-folder.js";
import { keysIn, options } from "../../support/keys.js";
import {
  type Guard,
  STATIC_SERVERS,
  type StaticServerName,
  startStatic,
  TAME,
} from "../../support/static-servers.js";
import { makeTree } from "../../support/tree.js";

/** The option that covers a documented alias. */
interface Cover {
  readonly normalize?: (path: string) => string;
  readonly cleanUrls?: boolean;
  /** The keys that a list adds for a target, as a site would list them. */
  readonly lists?: (keys: readonly string[]) => string[];
}

/** The directories above a key. With clean URLs, a server lists a directory named like a page as a page. */
const parents = (key: string) => {
  const names = key.split("/");
  const folders = names.map((_, index) => names.slice(0, index).join("/"));
  return folders
    .flatMap((folder) => [folder, folder.replace(/\.html?$/, "")])
    .map((folder) => normalizePath(folder.replace(/\/\*$/, "/%2A")));
};

/** Reads a name as a URL: an escape counts as one character. */
const asWritten = (key: string) => normalizePath(key.replaceAll("%25", "%"));

const COVERS: Readonly<Record<string, Cover>> = {
  "`/dir%2Fa.txt`": { normalize: (path) => path.replace(/%2f/gi, "/") },
  "`/dir\\a.txt`": { normalize: (path) => path.replaceAll("\\", "/") },
  "`/list//../dir/a.txt`": { normalize: (path) => path.replace(/\/+/g, "/") },
  "`/dir/a.txt;x`": { normalize: (path) => path.replace(/;[^?]*/, "") },
  "`/dir/page`": { cleanUrls: true },
  "`/list/`": { lists: (keys) => keys.flatMap(parents) },
  "`/dir/a%2Fb.txt`": { lists: (keys) => keys.map(asWritten) },
  "`/dir/app.js`": { lists: (keys) => keys.map((key) => key.replace(/\.gz$/, "")) },
  "`/.git/config`": { lists: () => ["/.git", "/.git/*"] },
};

/** The documented aliases and their servers. */
const ALIASES = rowsOf(section(documentAt("docs/path-filter.md"), "### Aliases")).map(
  ([alias = "", , servers = ""]) => ({ alias, servers: servers.split(", ") }),
);

function coversOf(name: StaticServerName): Cover[] {
  const named = ALIASES.filter(({ servers }) => servers.includes(name));
  return named.map(({ alias }) => COVERS[alias]!);
}

/** The guard of a folder, with the options documented for its server. */
async function guardOf(root: string, covers: readonly Cover[]): Promise<Guard> {
  const cleanUrls = covers.some((cover) => cover.cleanUrls);
  const keys = await keysIn(directory(root, options({ cleanUrls })));
  const listed = covers.flatMap(({ lists }) => lists?.(keys) ?? []);
  const filter = PathFilter.parse(buildPathFilter([...keys, ...listed]));
  const normalize = (path: string) =>
    normalizePath(covers.reduce((text, cover) => cover.normalize?.(text) ?? text, path));
  return { paths: filter, normalize };
}

describe("a guard lets every path pass that a static file server answers", () => {
  const size = { known: trials({ few: 5, all: 15 }), random: trials({ few: 0, all: 10 }) };

  /** Each server gets one of so many targets, and servers in a row get different ones. */
  const share = trials({ few: 4, all: 1 });

  // With all targets, each server gets tens of thousands of requests.
  test.for(STATIC_SERVERS)("%s", minutes({ all: 3 }), async (name) => {
    const first = STATIC_SERVERS.indexOf(name);
    const folder = makeHostileFolder({ ...size, tame: TAME[name] });
    const { root } = folder;
    const ask = await startStatic(name, root);
    const guard = await guardOf(root, coversOf(name));
    // No name may be a wildcard, which would let everything pass.
    for (const path of ["/nowhere", "/in/nowhere"]) expect(canExist(guard.paths, path)).toBe(false);
    const asked = await startStatic(name, root, guard);
    let answered = 0;
    const refused: string[] = [];
    for (const [at, target] of [...targetsOf(folder)].entries()) {
      if ((at + first) % share !== 0) continue;
      if ((await ask(target)) !== 200) continue;
      answered += 1;
      if ((await asked(target)) !== 200) refused.push(target);
    }
    expect(refused).toEqual([]);
    expect(answered).toBeGreaterThan(50 / share);
  });
});

describe("docs/path-filter.md names the servers that answer an alias, and no other", () => {
  test("every alias has an option that covers it", () => {
    expect(ALIASES.map(({ alias }) => alias).sort()).toEqual(Object.keys(COVERS).sort());
  });

  test.for(ALIASES)("$alias", async ({ alias, servers }) => {
    const root = makeTree({
      "dir/page.html": "",
      "dir/a.txt": "",
      "dir/a%2Fb.txt": "",
      "dir/app.js.gz": "",
      "list/page.html": "",
      ".git/config": "",
    });
    const target = alias.replaceAll("`", "");
    const answering: string[] = [];
    for (const name of STATIC_SERVERS) {
      const ask = await startStatic(name, root);
      if ((await ask(target)) !== 200) continue;
      answering.push(name);
      const plain = await startStatic(name, root, await guardOf(root, []));
      expect(await plain(target), name).toBe(404);
    }
    expect(answering.join(", ")).toEqual(servers.join(", "));
  });
});
