import { randomUUID } from "node:crypto";

import { SnapshotError, type SnapshotErrorCode } from "../../error.js";
import { readSmallFile } from "../../local/open-file.js";
import type { Layout } from "../directory/layout.js";
import { writeFile } from "../directory/write-files.js";

/** Why the last holder of a key failed, for those who waited for it in other processes. */
export interface Failure {
  /** Distinguishes it from an earlier failure. */
  readonly id: string;
  /** A digest of the source and credentials of the holder. */
  readonly who: string;
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly field?: string | undefined;
  readonly offset?: number | undefined;
}

/** Errors that depend on how a process opened its cache, and not on the snapshot. */
const OWN: ReadonlySet<SnapshotErrorCode> = new Set(["ERR_CACHE_SIZE", "ERR_ARGUMENT"]);

/** Returns the last failure under a key. */
export async function readFailure(layout: Layout, key: string): Promise<Failure | undefined> {
  const text = await readSmallFile(layout.failure(key)).catch(() => undefined);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Failure);
  } catch {
    return undefined;
  }
}

/** Records an error under a key. */
export async function writeFailure(
  layout: Layout,
  key: string,
  requester: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof SnapshotError) || OWN.has(error.code)) return;
  const { code, message, status, field, offset } = error;
  const failure: Failure = {
    id: randomUUID(),
    who: requester,
    code,
    message,
    status,
    field,
    offset,
  };
  await writeFile(layout.failure(key), JSON.stringify(failure));
}

/** Returns the recorded failure as an error. */
export function errorOf({ code, message, status, field, offset }: Failure): SnapshotError {
  const place = field === undefined || offset === undefined ? undefined : { field, offset };
  return new SnapshotError(code, message, { status, place });
}
