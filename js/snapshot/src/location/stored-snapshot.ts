/** Looks at the destination of an upload that must not replace another snapshot: servers may ignore conditions. */
import { SnapshotError } from "../error.js";
import { safeName } from "../http/failure.js";
import { isRetryableStatus } from "../http/retry.js";
import type { TransferOptions } from "../http/transfer.js";
import type { WorkOptions } from "../workers/pool.js";
import { etagAt } from "./request-at.js";
import { openSource } from "./source.js";

/** The options of requests. */
type LookOptions = TransferOptions & WorkOptions;

/** Statuses of a URL that holds nothing. */
const ABSENT: ReadonlySet<number | undefined> = new Set([404, 410]);

/**
 * Throws unless a URL holds nothing.
 *
 * @throws {SnapshotError} `ERR_TARGET` if it holds something or cannot be reached, `ERR_ARGUMENT` if the server does not
 *   tell: a presigned `PUT` cannot be read
 */
export async function checkAbsentAt(url: URL, options: LookOptions): Promise<void> {
  const name = safeName(url);
  try {
    await etagAt({ kind: "http", url }, options);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { status = 0, message, cause } = error;
    if (ABSENT.has(status)) return;
    if (!isRefusal(status)) throw new SnapshotError("ERR_TARGET", message, { cause, status });
    const expected = "expected a URL that can also be read, to see that it holds nothing";
    const text = `overwrite: ${expected}; ${message}`;
    throw new SnapshotError("ERR_ARGUMENT", text, { cause, status });
  }
  throw existsError(name);
}

/** Returns whether a server refuses to show an object, and would do so again. A proxy (407) says nothing about it. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 407 && !isRetryableStatus(status);
}

/** Returns the error for a destination that already exists. @param name of the object in messages */
export function existsError(name: string): SnapshotError {
  const message = `${name}: destination already exists; pass overwrite: true to replace it`;
  return new SnapshotError("ERR_TARGET", message);
}

/** Throws unless a URL holds a snapshot, which was just uploaded. @throws {SnapshotError} `ERR_TARGET` */
export async function checkStoredAt(url: URL, digest: string, options: LookOptions): Promise<void> {
  const found = await digestAt(url, options);
  if (found === digest) return;
  const message = `${safeName(url)}: another snapshot was stored there at the same time, and the server ignores If-None-Match`;
  throw new SnapshotError("ERR_TARGET", message);
}

/** Returns whether a URL holds a snapshot, as far as it can be read. */
export async function isStoredAt(url: URL, digest: string, options: LookOptions): Promise<boolean> {
  try {
    return (await digestAt(url, options)) === digest;
  } catch (error) {
    if (error instanceof SnapshotError) return false;
    throw error;
  }
}

async function digestAt(url: URL, options: LookOptions): Promise<string> {
  try {
    const source = await openSource({ kind: "http", url }, { options, wanted: "info" });
    try {
      return (await source.manifest()).info.digest;
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { message, cause, status } = error;
    throw new SnapshotError("ERR_TARGET", `after the upload: ${message}`, { cause, status });
  }
}
