/** Where the process that has attached a disk listens for `hedgerow disk save` and `detach` of the same user and host. */
import { createHash } from "node:crypto";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { CliError, messageOf, systemCode } from "../../../error.js";

/** Mode of a directory that only its owner may use. */
const PRIVATE = 0o700;

/** The number of hexadecimal digits in the name of a socket: the length of its path is limited. */
const DIGITS = 32;

/**
 * Returns the path at which to listen for a disk, in the first directory that exists or can be made.
 *
 * @param place the store, as in a command line
 * @throws {CliError} `ERR_OUTPUT` if there is none, or if other users may use it
 */
export async function socketPath(place: string, name: string): Promise<string> {
  const reasons: string[] = [];
  for (const directory of directories()) {
    try {
      await mkdir(directory, { mode: PRIVATE });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") {
        reasons.push(messageOf(error));
        continue;
      }
    }
    await isPrivate(directory);
    return join(directory, await nameOf(place, name));
  }
  const message = `cannot make a directory for the control socket; set XDG_RUNTIME_DIR to a directory of this user: ${reasons.join("; ")}`;
  throw new CliError("ERR_OUTPUT", message);
}

/** Where a process may listen for a disk. */
export interface SocketPaths {
  readonly paths: readonly string[];
  /** The error for a directory that is left out because other users may use it, if there is one. */
  readonly refusal: CliError | undefined;
}

/**
 * Returns the paths at which a process may listen for a disk: its environment may be another one.
 *
 * @param place the store, as in a command line
 */
export async function socketPaths(place: string, name: string): Promise<SocketPaths> {
  const file = await nameOf(place, name);
  const paths: string[] = [];
  let refusal: CliError | undefined;
  // A login shell has the last one, and a service of the same user may not.
  for (const directory of new Set([...directories(), `/run/user/${userId()}/hedgerow`])) {
    try {
      if (await isPrivate(directory)) paths.push(join(directory, file));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // Any user can make the one in /tmp, which must not make the others unusable.
      refusal ??= error;
    }
  }
  return { paths, refusal };
}

/** Returns the directories for sockets, the preferred one first. */
function directories(): Set<string> {
  const { XDG_RUNTIME_DIR } = process.env;
  const own = `hedgerow-${userId()}`;
  const runtime = XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, "hedgerow")] : [];
  // Processes of one user may have different values of TMPDIR.
  return new Set([...runtime, join("/tmp", own), join(tmpdir(), own)]);
}

function userId(): number {
  return process.getuid?.() ?? 0;
}

/** Returns whether a directory exists. @throws {CliError} `ERR_OUTPUT` if other users may use it */
async function isPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory() && found.uid === userId() && (found.mode & 0o777 & ~PRIVATE) === 0)
    return true;
  const message = `${directory}: expected a directory that only this user owns and may use`;
  throw new CliError("ERR_OUTPUT", message);
}

async function nameOf(place: string, name: string): Promise<string> {
  const text = JSON.stringify([await resolvedPlace(place), name]);
  return createHash("sha256").update(text).digest("hex").slice(0, DIGITS);
}

/** Returns a store in the form that all paths of it have in common. */
async function resolvedPlace(place: string): Promise<string> {
  if (/^s3:\/\//i.test(place)) return place;
  const path = /^file:\/\//i.test(place) ? fileURLToPath(place) : resolve(place);
  return realpath(path).catch(() => path);
}
