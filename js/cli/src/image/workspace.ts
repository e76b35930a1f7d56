/** A private folder for what is not complete. Folders that killed processes left behind are removed. */

import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";

import { makeFolder } from "../files/output.js";

/** The beginning of the names of private folders. */
const PREFIX = ".hedgerow-image-";

/** The socket that the process which uses a folder listens on. The kernel closes it when the process ends. */
const SOCKET = "alive";

/** How long a new folder may lack the socket, in milliseconds. */
const GRACE = 60_000;

export interface Workspace extends AsyncDisposable {
  readonly path: string;
}

/** Creates a private folder, which is removed when it is disposed of, or by a later process. */
export async function openWorkspace(parent: string): Promise<Workspace> {
  // Whether the parent can be used, the next step tells.
  await removeStale(parent).catch(() => {});
  const path = await makeFolder(PREFIX, parent);
  const server = createServer();
  try {
    using socket = socketIn(path);
    server.listen(socket.path);
    await once(server, "listening");
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
  server.unref();
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
      server.close();
    },
  };
}

async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (name.startsWith(PREFIX) && (await isStale(path))) {
      await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    // Root could remove the folders of other users, too.
    if (!found.isDirectory() || found.uid !== process.geteuid?.()) return false;
    using socket = socketIn(path);
    const code = await failureOf(socket.path);
    return code === "ECONNREFUSED" || (code === "ENOENT" && Date.now() - found.mtimeMs > GRACE);
  } catch {
    return false;
  }
}

/** Returns why nobody answers at a socket, or undefined if somebody does. */
function failureOf(socket: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.on("connect", () => {
      connection.destroy();
      resolve(undefined);
    });
    connection.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

/**
 * Returns the path of the socket in a folder, as long as it is not disposed of. A path of more than 107 bytes cannot be
 * that of a socket, so Linux has it by the number of the open folder.
 */
function socketIn(folder: string): Disposable & { readonly path: string } {
  if (process.platform !== "linux") return { path: join(folder, SOCKET), [Symbol.dispose]() {} };
  const descriptor = openSync(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const path = join("/proc/self/fd", `${descriptor}`, SOCKET);
  return { path, [Symbol.dispose]: () => closeSync(descriptor) };
}
