import { messageOf, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** Returns the result of a file operation. Errors of the system become a `SnapshotError` with `code`. */
export async function withFile<T>(
  code: SnapshotErrorCode,
  what: string,
  result: Promise<T>,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw wrapped(code, what, error);
  }
}

/** Does the same as {@link withFile} for a synchronous operation. */
export function withFileSync<T>(code: SnapshotErrorCode, what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw wrapped(code, what, error);
  }
}

/** Wraps an error of the system as the cause of a `SnapshotError`; returns other errors unchanged. */
function wrapped(code: SnapshotErrorCode, what: string, error: unknown): unknown {
  if (!(error instanceof Error) || !isSystemError(error)) return error;
  return new SnapshotError(code, `${what}: ${messageOf(error)}`, { cause: error });
}

/** Returns whether an error comes from a system call or from the permission model of Node. */
function isSystemError(error: Error): boolean {
  return "syscall" in error || ("code" in error && error.code === "ERR_ACCESS_DENIED");
}
