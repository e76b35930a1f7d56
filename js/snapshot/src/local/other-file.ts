import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

import { SnapshotError } from "../error.js";

/** Identity of a file on its machine. */
export type FileId = Pick<BigIntStats, "dev" | "ino">;

/**
 * Throws if a target is the file that is read.
 *
 * @param what name of the argument with the target
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkOther(what: string, target: string, from: FileId): Promise<void> {
  if (!(await leadsTo(target, from))) return;
  const message = `${what}: expected a path other than that of the file that is read, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns whether a path leads to a file, links included. */
export async function leadsTo(path: string, { dev, ino }: FileId): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.dev === dev && found.ino === ino;
}
