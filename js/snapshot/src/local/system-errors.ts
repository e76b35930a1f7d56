import { messageOf, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** Returns the result of a file operation. System errors become a `SnapshotError` with `code`. */
export async function wrapSystemErrors<T>(
  code: SnapshotErrorCode,
  what: string,
  result: Promise<T>,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw wrap(code, what, error);
  }
}

/** Does the same as {@link wrapSystemErrors} for a synchronous operation. */
export function wrapSystemErrorsSync<T>(code: SnapshotErrorCode, what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw wrap(code, what, error);
  }
}

/** Returns the result of an operation on the file to write. System errors become an `ERR_TARGET`. */
export function wrapWriteErrors<T>(path: string, result: Promise<T>): Promise<T> {
  return wrapSystemErrors("ERR_TARGET", `cannot write ${path}`, result);
}

/** Returns the result, or undefined if the file does not exist. */
export async function undefinedIfMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Errors of a file system, quota or limit that leaves no room for more data. */
export const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Returns whether data could not be kept: there is no room for it, or the file system has become read-only. */
export function isUnkeepable(error: unknown): boolean {
  if (!(error instanceof SnapshotError)) return false;
  const { code } = Object(error.cause) as { readonly code?: unknown };
  return error.code === "ERR_TARGET" && (FULL.has(code) || code === "EROFS");
}

/** Errors of a change where nothing may be changed. */
const READ_ONLY: ReadonlySet<unknown> = new Set(["EROFS", "EACCES", "EPERM"]);

/** Returns whether a change failed because the file system or directory, or the user's rights, do not allow any. */
export function isReadOnlyError(error: unknown): boolean {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  return READ_ONLY.has(code) || (error instanceof SnapshotError && isReadOnlyError(cause));
}

/** Wraps a system error as the cause of a `SnapshotError`; returns other errors unchanged. */
function wrap(code: SnapshotErrorCode, what: string, error: unknown): unknown {
  if (!(error instanceof Error) || !isSystemError(error)) return error;
  return new SnapshotError(code, `${what}: ${messageOf(error)}${hintOf(error)}`, { cause: error });
}

function hintOf(error: Error): string {
  if ((error as NodeJS.ErrnoException).code !== "EFBIG") return "";
  return "; neither ulimit -f nor the file system may forbid files of that size: use another one, such as XFS";
}

/** Returns whether an error comes from a system call or from the permission model of Node. */
function isSystemError(error: Error): boolean {
  return "syscall" in error || ("code" in error && error.code === "ERR_ACCESS_DENIED");
}
