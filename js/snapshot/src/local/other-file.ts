import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

import { SnapshotError } from "../error.js";

/** What tells files of one system apart. */
export type FileId = Pick<BigIntStats, "dev" | "ino">;

/**
 * Throws if what is made would take the place of what it is made of.
 *
 * @param what the argument that names the target
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkOther(what: string, target: string, from: FileId): Promise<void> {
  if (!(await leadsTo(target, from))) return;
  const message = `${what}: expected another file than the one that is read, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Whether a path leads to a file, by whatever name that was opened. */
export async function leadsTo(path: string, { dev, ino }: FileId): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.dev === dev && found.ino === ino;
}
