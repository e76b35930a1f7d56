import { walk } from "../../files/walk.js";
import { keysOfFolder } from "../routes/keys.js";

/** Where version control keeps its own: large, and never served on purpose. */
const STORES = new Set([".git", ".hg", ".svn"]);

const INDEX = "index.html";

export interface DirectoryOptions {
  /** Whether pages also answer without `.html`. */
  readonly cleanUrls: boolean;
}

/**
 * What a static file server answers for a directory: the path of each file, hidden ones included, and
 * of each directory with an `index.html`.
 */
export async function* directory(
  root: string,
  { cleanUrls }: DirectoryOptions,
): AsyncGenerator<string> {
  for await (const { path, kind } of walk(root, (name) => !STORES.has(name))) {
    if (kind === "endless") yield* keysOfFolder(path);
    if (kind !== "file") continue;
    yield path;
    if (path.endsWith(`/${INDEX}`)) yield path.slice(0, -INDEX.length);
    if (cleanUrls && path.endsWith(".html")) yield path.slice(0, -".html".length);
  }
}
