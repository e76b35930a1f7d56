/** Unix sockets that only their owner may connect to. */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  renameSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { connect } from "node:net";

import { messageOf, SnapshotError } from "../error.js";
import type { FileId } from "../local/open-file.js";
import { PRIVATE_MODE } from "../local/private-file.js";

/**
 * Makes a socket that only the owner may connect to. Creates it in a private directory, makes it private, and links it
 * to its path. Replaces the socket of a server that was killed. If several servers try at the same time, one succeeds.
 *
 * @param listen creates a socket at a path, and listens on it
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function makeSocket(
  path: string,
  listen: (temporary: string) => Promise<void>,
): Promise<FileId> {
  const dead = await findDead(path);
  let directory: string | undefined;
  try {
    directory = mkdtempSync(`${path}.`);
    const temporary = `${directory}/s`;
    await listen(temporary);
    chmodSync(temporary, PRIVATE_MODE);
    const made = lstatSync(temporary, { bigint: true });
    if (dead !== undefined) removeDead(path, dead, `${directory}/dead`);
    // Renaming it would replace the socket of another server.
    linkSync(temporary, path);
    return made;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw isServed(path);
    if (cause instanceof SnapshotError) throw cause;
    throw new SnapshotError("ERR_TARGET", `cannot listen: ${messageOf(cause)}`, { cause });
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** Removes a socket, unless something else is at its path now, or it cannot be removed. */
export function removeSocket(path: string, made: FileId): void {
  try {
    if (isAt(path, made)) unlinkSync(path);
  } catch {
    // The next server with this path replaces it.
  }
}

function isAt(path: string, { dev, ino }: FileId): boolean {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.dev === dev && found.ino === ino;
}

/**
 * Returns the socket at a path if its server has ended, or undefined if nothing is there.
 *
 * @throws {SnapshotError} `ERR_TARGET` if there is something else
 */
async function findDead(path: string): Promise<FileId | undefined> {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isSocket()) {
    throw new SnapshotError("ERR_TARGET", `${path}: expected no file or a socket`);
  }
  const isDead = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (!isDead) throw isServed(path);
  return found;
}

/** Removes a socket without a listener, unless another server has replaced it. @param aside a temporary path */
function removeDead(path: string, dead: FileId, aside: string): void {
  if (!isAt(path, dead)) return;
  renameSync(path, aside);
  // Another server replaced it before the rename: put that socket back.
  if (!isAt(aside, dead)) linkSync(aside, path);
}

function isServed(path: string): SnapshotError {
  return new SnapshotError("ERR_TARGET", `${path}: another server is listening`);
}
