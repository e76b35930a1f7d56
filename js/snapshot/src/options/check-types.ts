import { SnapshotError } from "../error.js";

/** Throws unless an option is a function, or undefined. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkFunction(name: string, value: unknown): void {
  const found = typeof value;
  if (found === "function" || found === "undefined") return;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected a function, found ${found}`);
}

/** Throws unless the option `signal` is an `AbortSignal`, or undefined. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || isSignal(signal)) return;
  const message = `signal: expected an AbortSignal, found ${typeof signal}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns whether a value is an `AbortSignal`, and not an object with its prototype. */
function isSignal(signal: unknown): boolean {
  try {
    return signal instanceof AbortSignal && typeof signal.aborted === "boolean";
  } catch {
    return false;
  }
}
