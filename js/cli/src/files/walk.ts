import { readdir, stat } from "node:fs/promises";
import { sep } from "node:path";

import { systemCode } from "../error.js";
import { escapeName } from "../paths/path-text.js";

/** Something in a directory, or below it. */
export interface Entry {
  /** Where it is below the directory, as a URL has it: with a slash before each name. */
  readonly path: string;
  readonly kind: /** Anything but a directory. */
    | "file"
    /** A directory that is not entered. */
    | "folder"
    /** A link to a directory that is not followed, as one could go on following without end. */
    | "endless";
}

/** How many links to directories may lead to one another; servers stop at some number as well. */
const MAX_LINKS = 4;

const SEPARATOR = Buffer.from(sep);

interface Folder {
  /** As bytes: names of files need not be text. */
  readonly file: Buffer;
  readonly path: string;
  readonly id: string;
  readonly parent: Folder | undefined;
  readonly links: number;
}

/**
 * All that is in a directory and below it. Links count as what they lead to, wherever that is; those
 * that lead nowhere are left out. A link to a directory is followed unless it leads to one that
 * contains it, or {@link MAX_LINKS} links led to it: so the walk ends.
 *
 * @param enter whether a directory of this name is entered
 */
export async function* walk(root: string, enter: (name: string) => boolean): AsyncGenerator<Entry> {
  const file = Buffer.from(root);
  const pending: Folder[] = [
    { file, path: "", id: await identity(file), parent: undefined, links: 0 },
  ];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(folder.file, { encoding: "buffer", withFileTypes: true })) {
      const file = Buffer.concat([folder.file, SEPARATOR, entry.name]);
      const path = `${folder.path}/${escapeName(entry.name)}`;
      const isLink = entry.isSymbolicLink();
      const found = isLink ? await targetOf(file) : entry;
      if (found === undefined) continue;
      if (!found.isDirectory()) {
        yield { path, kind: "file" };
      } else {
        const id = await identity(file);
        const links = folder.links + (isLink ? 1 : 0);
        if (!enter(entry.name.toString())) yield { path, kind: "folder" };
        else if (isLink && (links > MAX_LINKS || contains(folder, id))) {
          yield { path, kind: "endless" };
        } else pending.push({ file, path, id, parent: folder, links });
      }
    }
  }
}

/** What a link leads to, if anything. */
async function targetOf(link: Buffer) {
  try {
    return await stat(link);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Tells a directory from all others, by whichever path it is reached. */
async function identity(folder: Buffer): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/** Whether a directory is this one, or one that it was reached through. */
function contains(folder: Folder, id: string): boolean {
  for (let at: Folder | undefined = folder; at !== undefined; at = at.parent) {
    if (at.id === id) return true;
  }
  return false;
}
