/** Assertions for cases, which must run on runtimes that no test framework runs on. */
import type { HedgerowError, HedgerowErrorCode } from "hedgerow";

/** Asserts that two values are written the same as JSON. */
export function equal(actual: unknown, expected: unknown, about = "value"): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${about}: expected ${wanted}, found ${found}`);
}

/** What `call` throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error, found none");
}

/** What `promise` is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, found none");
}

/**
 * Asserts that `call` is refused with `code`, and that the message says what was expected and what
 * was found, and holds each of `parts`.
 */
export function refused(
  call: () => unknown,
  code: HedgerowErrorCode,
  ...parts: readonly string[]
): void {
  isRefusal(thrownBy(call), code, ...parts);
}

/** Asserts that an error is a refusal with `code`, whose message says what {@link refused} asks. */
export function isRefusal(
  error: unknown,
  code: HedgerowErrorCode,
  ...parts: readonly string[]
): void {
  if (!isHedgerowError(error)) {
    throw new Error(`expected a HedgerowError that says ${parts}, found ${error}`);
  }
  equal(error.code, code, error.message);
  for (const part of ["expected ", "found ", ...parts]) {
    equal(error.message.includes(part), true, `${error.message} has ${JSON.stringify(part)}`);
  }
}

/** By its name: `hedgerow` and `hedgerow/slim` each have a class of their own. */
function isHedgerowError(error: unknown): error is HedgerowError {
  return error instanceof Error && error.name === "HedgerowError";
}
