/** Unix sockets that only their owner may connect to. */
import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { connect } from "node:net";

import { messageOf, SnapshotError } from "../error.js";
import type { FileId } from "../local/same-file.js";

/** The mode of a socket that only its owner may connect to. */
const PRIVATE_MODE = 0o600;

/**
 * Makes a socket that only the owner may connect to. It is made in a private directory, gets its name when it is private
 * itself, and replaces the socket of a server that was killed.
 *
 * @param listen listens on a socket that it makes at a path
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function makeSocket(
  path: string,
  listen: (temporary: string) => Promise<void>,
): Promise<FileId> {
  await checkUnused(path);
  let directory: string | undefined;
  try {
    directory = mkdtempSync(`${path}.`);
    const temporary = `${directory}/s`;
    await listen(temporary);
    chmodSync(temporary, PRIVATE_MODE);
    const made = lstatSync(temporary, { bigint: true });
    renameSync(temporary, path);
    return made;
  } catch (cause) {
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

/** Throws if there is something at a path that is not the socket of a server that has ended. */
async function checkUnused(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new SnapshotError("ERR_TARGET", `${path}: expected no file or a socket`);
  }
  const isServed = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
  if (isServed) throw new SnapshotError("ERR_TARGET", `${path}: another server is listening`);
}
