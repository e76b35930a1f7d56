import { randomUUID } from "node:crypto";

import { SnapshotError, type SnapshotErrorCode } from "../../error.js";
import type { Layout } from "../directory/layout.js";
import { readSmall, writeSmall } from "../directory/small-file.js";

/** Why what someone did came to nothing, for those who waited for it. */
export interface Failure {
  /** Tells it from another one. */
  readonly id: string;
  /** Who did it: for whom else it would have failed as well. */
  readonly who: string;
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly field?: string | undefined;
  readonly offset?: number | undefined;
}

/** What depends on whoever opened the cache, and not on the snapshot. */
const OWN: ReadonlySet<SnapshotErrorCode> = new Set(["ERR_CACHE_SIZE", "ERR_ARGUMENT"]);

/** Why the last thing that was done under a claim came to nothing. */
export async function readFailure(layout: Layout, name: string): Promise<Failure | undefined> {
  const text = await readSmall(layout.failure(name)).catch(() => undefined);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Failure);
  } catch {
    return undefined;
  }
}

/** Notes why something came to nothing. */
export async function writeFailure(
  layout: Layout,
  name: string,
  who: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof SnapshotError) || OWN.has(error.code)) return;
  const { code, message, status, field, offset } = error;
  const failure: Failure = { id: randomUUID(), who, code, message, status, field, offset };
  await writeSmall(layout.failure(name), JSON.stringify(failure));
}

/** What those are told who waited for what came to nothing. */
export function errorOf({ code, message, status, field, offset }: Failure): SnapshotError {
  const place = field === undefined || offset === undefined ? undefined : { field, offset };
  return new SnapshotError(code, message, { status, place });
}
