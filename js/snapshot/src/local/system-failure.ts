import { messageOf, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** The result of what is done with a file. What the system refuses is told as `code`. */
export async function withFile<T>(
  code: SnapshotErrorCode,
  what: string,
  result: Promise<T>,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw told(code, what, error);
  }
}

/** The result of what is done with a file at once. What the system refuses is told as `code`. */
export function withFileSync<T>(code: SnapshotErrorCode, what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw told(code, what, error);
  }
}

/** An error of the system as one of this package, with it as the cause; any other as it is. */
function told(code: SnapshotErrorCode, what: string, error: unknown): unknown {
  if (!(error instanceof Error) || !isOfSystem(error)) return error;
  return new SnapshotError(code, `${what}: ${messageOf(error)}`, { cause: error });
}

/** Whether the system refused something, or Node's permissions did. */
function isOfSystem(error: Error): boolean {
  return "syscall" in error || ("code" in error && error.code === "ERR_ACCESS_DENIED");
}
