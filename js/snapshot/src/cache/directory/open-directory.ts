import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, realpath, stat } from "node:fs/promises";

import { SnapshotError } from "../../error.js";
import { openPrivate } from "../../local/private-file.js";
import { withFile } from "../../local/system-failure.js";
import { PRIVATE, unlessMissing } from "../../local/whole-file.js";
import { Layout } from "./layout.js";
import { remove } from "./replacing.js";
import { SOURCES_LENGTH } from "./sources.js";

/** Windows has no such flag, and no cache. */
const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;

/** What the file begins with by which a cache is known: its kind and version. */
const KIND = "hedgerow image cache 1\n";

const PRIVATE_DIRECTORY = 0o700;

/** What others may not do in a directory that is trusted. */
const OTHERS_WRITE = 0o022;

/** A directory that is a cache. */
export interface OpenDirectory {
  readonly layout: Layout;
  /** The file that has the lock and the clock. */
  readonly lock: FileHandle;
  /** The file that says which images came from where. */
  readonly sources: FileHandle;
}

/**
 * Opens a directory as a cache, and makes it one if it is empty, or if there is none.
 *
 * @throws {SnapshotError} `ERR_CACHE` if it cannot be used, or if others could write to it
 */
export async function openDirectory(path: string, create: boolean): Promise<OpenDirectory> {
  const using = <T>(result: Promise<T>) =>
    withFile("ERR_CACHE", `cannot use ${path} as a cache`, result);
  if (create) await using(mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY }));
  const directory = await using(unlessMissing(realpath(path)));
  if (directory === undefined) {
    throw new SnapshotError("ERR_CACHE", `${path}: expected a cache, found nothing`);
  }
  const layout = new Layout(directory);
  await using(checkOwn(path, directory));
  await using(checkKind(path, layout, create));
  const lock = await using(open(layout.lock, O_RDWR | O_CREAT | O_NOFOLLOW, PRIVATE));
  let sources: FileHandle | undefined;
  try {
    await using(begin(path, lock));
    for (const folder of [layout.images, layout.filling]) {
      await using(mkdir(folder, { recursive: true, mode: PRIVATE_DIRECTORY }));
      await using(checkOwn(folder, folder));
    }
    sources = await using(openPrivate(layout.sources, layout.sources, remove));
    const { size } = await using(sources.stat());
    // All of it takes its room from the beginning.
    if (size < SOURCES_LENGTH)
      await using(sources.write(Buffer.alloc(SOURCES_LENGTH - size), 0, undefined, size));
    return { layout, lock, sources };
  } catch (error) {
    await sources?.close();
    await lock.close();
    throw error;
  }
}

async function checkOwn(name: string, path: string): Promise<void> {
  const found = await stat(path);
  if (!found.isDirectory()) throw new SnapshotError("ERR_CACHE", `${name}: expected a directory`);
  const { uid, mode } = found;
  const user = process.getuid?.() ?? uid;
  if (uid !== user) {
    const message = `${name}: expected a directory of the user ${user}, found one of ${uid}`;
    throw new SnapshotError("ERR_CACHE", message);
  }
  if ((mode & OTHERS_WRITE) === 0) return;
  const rights = (mode & 0o777).toString(8);
  const message = `${name}: expected a directory that nobody else can write to, found mode ${rights}`;
  throw new SnapshotError("ERR_CACHE", message);
}

/** A directory that is none yet must be empty: what is someone's is not to go. */
async function checkKind(
  name: string,
  { directory, lock }: Layout,
  create: boolean,
): Promise<void> {
  if ((await unlessMissing(stat(lock))) !== undefined) return;
  if (!create) throw new SnapshotError("ERR_CACHE", `${name}: expected a cache, found none`);
  const [other] = await readdir(directory);
  if (other === undefined || (await unlessMissing(stat(lock))) !== undefined) return;
  const message = `${name}: expected a cache or an empty directory, found ${JSON.stringify(other)} in it`;
  throw new SnapshotError("ERR_CACHE", message);
}

/** Says what it is, unless it does. */
async function begin(name: string, lock: FileHandle): Promise<void> {
  const bytes = Buffer.alloc(KIND.length + 1);
  const { bytesRead } = await lock.read(bytes, 0, bytes.length, 0);
  const found = bytes.toString("latin1", 0, bytesRead);
  // Whoever was ended amid it has written less.
  if (found === KIND) return;
  if (!KIND.startsWith(found)) {
    const message = `${name}: expected ${JSON.stringify(KIND)}, found ${JSON.stringify(found)}`;
    throw new SnapshotError("ERR_CACHE", message);
  }
  await lock.write(KIND, 0, "latin1");
}
