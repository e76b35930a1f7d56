import { normalizePath } from "hedgerow";

import { NO_HOSTS, readHosts } from "../hosts/index.js";
import { keysOfDirectory } from "../keys.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { withRewrites } from "../routes/rewrites.js";
import { walk } from "./walk.js";

/** Directories of version control: large, and never served on purpose. */
const STORES = new Set([".git", ".hg", ".svn"]);

const INDEX = /\/index\.html?$/;
const PAGE = /\.html?$/;

export interface DirectoryOptions {
  /** Whether to add pages without `.html` or `.htm` too. */
  readonly cleanUrls: boolean;
  /** Whether to leave out the paths that files of hosts, such as `_redirects`, state. */
  readonly ignoreHosts: boolean;
}

/**
 * Yields the paths that a static file server answers for a directory: every file, including hidden ones, and every
 * directory with an `index.html` or `index.htm`. Adds the paths that the files of hosts state.
 */
export async function* directory(
  root: string,
  options: DirectoryOptions & RouteOptions,
): AsyncGenerator<string> {
  const hosts = options.ignoreHosts ? NO_HOSTS : await readHosts(root, options);
  const { keys, rewrites, cleanUrls } = hosts;
  const reached = (path: string) => withRewrites(normalizePath(path), rewrites, options.warn);
  for await (const path of filesOf(root, cleanUrls || options.cleanUrls)) yield* reached(path);
  for (const key of keys) yield* reached(key);
}

/** Yields the paths of files. */
async function* filesOf(root: string, cleanUrls: boolean): AsyncGenerator<string> {
  for await (const { path, kind } of walk(root, (name) => !STORES.has(name))) {
    if (kind === "endless") yield* keysOfDirectory(path);
    if (kind !== "file") continue;
    for (const page of withIndexed(path)) {
      yield page;
      if (cleanUrls && PAGE.test(page)) yield page.replace(PAGE, "");
    }
  }
}

/** Yields a path and, if it is an index, its directory, which may itself be named like an index. */
function* withIndexed(path: string): Generator<string> {
  yield path;
  if (INDEX.test(path)) yield* withIndexed(path.replace(INDEX, ""));
}
