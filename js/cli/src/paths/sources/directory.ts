/** Reads the paths of static files. */
import { readdir, stat } from "node:fs/promises";
import { sep } from "node:path";
import { normalizePath } from "hedgerow";

import { systemCode } from "../../error.js";
import { NO_HOSTS, readHosts } from "../hosts/index.js";
import { escapeName, keysOfDirectory } from "../keys.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { withRewrites } from "../routes/rewrites.js";

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

/** A file or directory found in a directory tree. */
interface Entry {
  /** Path below the root, percent-encoded, with a slash before each name. */
  readonly path: string;
  readonly kind: /** Anything but a directory. */
    | "file"
    /** A directory that was not entered. */
    | "directory"
    /** A link to a directory that was not followed because it may lead in circles. */
    | "endless";
}

/** Maximum number of directory links followed on one path; servers have such a limit too. */
const MAX_LINKS = 4;

const SEPARATOR = Buffer.from(sep);

interface Directory {
  /** Bytes, because file names need not be valid UTF-8. */
  readonly file: Buffer;
  readonly path: string;
  readonly id: string;
  readonly parent: Directory | undefined;
  readonly links: number;
}

/**
 * Walks a directory tree. A link counts as its target, inside or outside the tree; dangling links are
 * skipped. A link to a directory is followed unless the directory contains the link, or
 * {@link MAX_LINKS} links were followed already, so the walk always ends.
 *
 * @param enter whether to enter a directory of this name
 */
export async function* walk(root: string, enter: (name: string) => boolean): AsyncGenerator<Entry> {
  const file = Buffer.from(root);
  const pending: Directory[] = [
    { file, path: "", id: await identity(file), parent: undefined, links: 0 },
  ];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of await readdir(directory.file, {
      encoding: "buffer",
      withFileTypes: true,
    })) {
      const file = Buffer.concat([directory.file, SEPARATOR, entry.name]);
      const path = `${directory.path}/${escapeName(entry.name)}`;
      const isLink = entry.isSymbolicLink();
      const found = isLink ? await targetOf(file) : entry;
      if (found === undefined) continue;
      if (!found.isDirectory()) {
        yield { path, kind: "file" };
      } else {
        const id = await identity(file);
        const links = directory.links + (isLink ? 1 : 0);
        if (!enter(entry.name.toString())) yield { path, kind: "directory" };
        else if (isLink && (links > MAX_LINKS || contains(directory, id))) {
          yield { path, kind: "endless" };
        } else pending.push({ file, path, id, parent: directory, links });
      }
    }
  }
}

/** Returns the stats of a link's target, or `undefined` if the link dangles. */
async function targetOf(link: Buffer) {
  try {
    return await stat(link);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Returns device and inode, which identify a directory whatever its path. */
async function identity(directory: Buffer): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true });
  return `${dev}:${ino}`;
}

/** Whether `id` is the directory or one of its ancestors. */
function contains(directory: Directory, id: string): boolean {
  for (let at: Directory | undefined = directory; at !== undefined; at = at.parent) {
    if (at.id === id) return true;
  }
  return false;
}
