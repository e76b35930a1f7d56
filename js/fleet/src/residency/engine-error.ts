import { FleetError } from "../error.js";

/** The maximum length of the engine's words in a message. */
const MAX_LENGTH = 200;

/** Returns the error for a failure of the engine, without credentials that its message may have. */
export function engineError(what: string, cause: unknown): FleetError {
  if (cause instanceof FleetError) return cause;
  const text = cause instanceof Error ? cause.message || cause.name : typeof cause;
  return new FleetError("ERR_ENGINE", `${what}: ${cleaned(text)}`);
}

function cleaned(text: string): string {
  return text
    .slice(0, MAX_LENGTH)
    .replace(/\/\/[^\s/]*@/g, "//")
    .replace(/[^\x20-\x7e]+/g, " ");
}

/** Calls a handler of errors, which must not disturb its caller. */
export function tell(onError: ((error: Error) => void) | undefined, error: Error): void {
  try {
    onError?.(error);
  } catch {
    // An error of the handler is not one of the fleet.
  }
}
