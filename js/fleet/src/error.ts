/** The kind of an error. Codes are stable across versions; messages are not. */
export type FleetErrorCode =
  /** An argument has the wrong type or is out of range. */
  | "ERR_ARGUMENT"
  /** No host is available. */
  | "ERR_NO_HOST"
  /** The engine that shares the state of the fleet cannot be reached, refuses commands, or sends invalid answers. */
  | "ERR_ENGINE";

/** An error of this package. The message says what was expected, what was found, and where. */
export class FleetError extends Error {
  /** The name of the class. */
  override readonly name = "FleetError";

  /** @internal */
  constructor(
    /** The kind of the error. */
    readonly code: FleetErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}
