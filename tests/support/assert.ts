/** Assertions for the cases, which also run on runtimes without a test framework. */
import type { HedgerowError, HedgerowErrorCode } from "hedgerow";

/** Asserts that two values have the same JSON. */
export function equal(actual: unknown, expected: unknown, about = "value"): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${about}: expected ${wanted}, found ${found}`);
}

/** Returns the error that `call` throws, and fails if there is none. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error, found none");
}

/** Returns the reason that `promise` is rejected with, and fails if it is fulfilled. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, found none");
}

/** Asserts that `call` throws a `HedgerowError` with `code`, whose message contains each of `parts`. */
export function refused(
  call: () => unknown,
  code: HedgerowErrorCode,
  ...parts: readonly string[]
): void {
  isRefusal(thrownBy(call), code, ...parts);
}

/** Asserts that `error` is a `HedgerowError` with `code`, whose message contains each of `parts`. */
export function isRefusal(
  error: unknown,
  code: HedgerowErrorCode,
  ...parts: readonly string[]
): void {
  if (!isHedgerowError(error)) throw new Error(`expected a HedgerowError, found ${error}`);
  equal(error.code, code, error.message);
  for (const part of parts) {
    equal(error.message.includes(part), true, `${error.message} contains ${JSON.stringify(part)}`);
  }
}

/** Compares the name, since `hedgerow` and `hedgerow/slim` define separate classes. */
function isHedgerowError(error: unknown): error is HedgerowError {
  return error instanceof Error && error.name === "HedgerowError";
}
