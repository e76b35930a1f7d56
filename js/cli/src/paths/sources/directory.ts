import { walk } from "../../files/walk.js";
import { keysOfFolder } from "../routes/keys.js";

/** Where version control keeps its own: large, and never served on purpose. */
const STORES = new Set([".git", ".hg", ".svn"]);

const INDEX = /\/index\.html?$/;
const PAGE = /\.html?$/;

export interface DirectoryOptions {
  /** Whether pages also answer without `.html` or `.htm`. */
  readonly cleanUrls: boolean;
}

/**
 * What a static file server answers for a directory: the path of each file, hidden ones included, and
 * of each directory with an `index.html` or `index.htm`.
 */
export async function* directory(
  root: string,
  { cleanUrls }: DirectoryOptions,
): AsyncGenerator<string> {
  for await (const { path, kind } of walk(root, (name) => !STORES.has(name))) {
    if (kind === "endless") yield* keysOfFolder(path);
    if (kind !== "file") continue;
    for (const page of withIndexed(path)) {
      yield page;
      if (cleanUrls && PAGE.test(page)) yield page.replace(PAGE, "");
    }
  }
}

/** A path, and the directory whose index it is, which may be called like an index itself. */
function* withIndexed(path: string): Generator<string> {
  yield path;
  if (INDEX.test(path)) yield* withIndexed(path.replace(INDEX, ""));
}
