import { FleetError } from "../error.js";
import { tell } from "./engine-error.js";

/** The minimum time between two errors about what others wrote into the engine, in milliseconds. */
const INTERVAL = 1_000;

/** Reports invalid content of the engine, at most once in each interval, since anyone may write it without end. */
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
