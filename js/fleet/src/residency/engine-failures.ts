/** Failures of the engine: their errors, without secrets, and the delays of retries. */
import { FleetError } from "../error.js";

/** The maximum length of text from the engine in a message. */
const MAX_LENGTH = 200;

/** Returns the error for a failure of the engine, without credentials that its message may have. */
export function engineError(what: string, cause: unknown): FleetError {
  if (cause instanceof FleetError) return cause;
  const text = cause instanceof Error ? cause.message || cause.name : typeof cause;
  return new FleetError("ERR_ENGINE", `${what}: ${cleaned(text)}`);
}

function cleaned(text: string): string {
  // Cut last: a URL whose end is missing shows where its user ends only by chance.
  return text
    .replace(/\S+/g, withoutUser)
    .replace(/[^\x20-\x7e]+/g, " ")
    .slice(0, MAX_LENGTH);
}

/** The beginning of an authority with anything but a port after its first colon. */
const PASSWORD = /\/\/[^:/[]*:(?!\d{1,5}(?:\W|$))/;

/** Returns a word without the users of its URLs, whose passwords may have any character but white space. */
function withoutUser(word: string): string {
  const start = word.indexOf("//") + 2;
  const end = start < 2 ? 0 : word.lastIndexOf("@") + 1;
  const kept = end > start ? word.slice(0, start) + word.slice(end) : word;
  // The engine or the client may have cut the URL before the host.
  const password = kept.search(PASSWORD);
  return password < 0 ? kept : kept.slice(0, password + 2);
}

/** Calls a handler of errors, which must not disturb its caller. */
export function tell<E>(onError: ((error: E) => void) | undefined, error: E): void {
  try {
    onError?.(error);
  } catch {
    // An error of the handler is not one of the fleet.
  }
}

/** The minimum time between two errors about invalid content of the engine, in milliseconds. */
const INTERVAL = 1_000;

/** Reports invalid content of the engine, at most once in each interval: its writer may not stop. */
export class ErrorLimit {
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly onError: ((error: Error) => void) | undefined) {}

  report(what: string): void {
    const now = performance.now();
    if (now - this.#reportedAt < INTERVAL) return;
    this.#reportedAt = now;
    tell(this.onError, new FleetError("ERR_ENGINE", what));
  }
}

/** Returns a random delay in milliseconds. Its maximum doubles with each attempt, and its minimum is half of that. */
export function backoff(attempt: number, first: number, max: number): number {
  return Math.min(max, first * 2 ** Math.min(attempt, 30)) * (0.5 + Math.random() / 2);
}
