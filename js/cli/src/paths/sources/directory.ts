import { walk } from "../../files/walk.js";
import { keysOfDirectory } from "../routes/keys.js";

/** Directories of version control: large, and never served on purpose. */
const STORES = new Set([".git", ".hg", ".svn"]);

const INDEX = /\/index\.html?$/;
const PAGE = /\.html?$/;

export interface DirectoryOptions {
  /** Whether to add pages without `.html` or `.htm` too. */
  readonly cleanUrls: boolean;
}

/**
 * Yields the paths that a static file server answers for a directory: every file, including hidden
 * ones, and every directory with an `index.html` or `index.htm`.
 */
export async function* directory(
  root: string,
  { cleanUrls }: DirectoryOptions,
): AsyncGenerator<string> {
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
