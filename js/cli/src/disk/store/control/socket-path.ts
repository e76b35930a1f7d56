/** Where the process that has attached a disk listens for `hedgerow disk save` and `detach` of the same user and host. */
import { createHash } from "node:crypto";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { CliError } from "../../../error.js";

/** Mode of a directory that only its owner may use. */
const PRIVATE = 0o700;

/** The number of hexadecimal digits in the name of a socket: the length of its path is limited. */
const DIGITS = 32;

/**
 * Returns the path of the socket for a disk. Makes its directory if it is missing.
 *
 * @param place the store, as in a command line
 * @throws {CliError} `ERR_OUTPUT` if other users may use the directory
 */
export async function socketPath(place: string, name: string): Promise<string> {
  const { XDG_RUNTIME_DIR } = process.env;
  const uid = process.getuid?.() ?? 0;
  const directory = XDG_RUNTIME_DIR
    ? join(XDG_RUNTIME_DIR, "hedgerow")
    : join(tmpdir(), `hedgerow-${uid}`);
  await mkdir(directory, { mode: PRIVATE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o777 & ~PRIVATE) !== 0) {
    const message = `${directory}: expected a directory that only this user owns and may use`;
    throw new CliError("ERR_OUTPUT", message);
  }
  const text = JSON.stringify([await resolvedPlace(place), name]);
  return join(directory, createHash("sha256").update(text).digest("hex").slice(0, DIGITS));
}

/** Returns a store in the form that all paths of it have in common. */
async function resolvedPlace(place: string): Promise<string> {
  if (/^s3:\/\//i.test(place)) return place;
  const path = /^file:\/\//i.test(place) ? fileURLToPath(place) : resolve(place);
  return realpath(path).catch(() => path);
}
