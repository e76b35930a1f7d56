import type { FleetErrorCode } from "@hedgerow/fleet";
import type { SnapshotErrorCode } from "@hedgerow/snapshot";

/** Exit codes, which scripts may rely on. */
export const EXIT = {
  /** Success; for `query`, every path may be present. */
  done: 0,
  /** At least one queried path is certainly absent. */
  absent: 1,
  /** A list of rules has findings. */
  found: 1,
  /** Damaged images were found in a cache and removed. */
  damaged: 1,
  /** The command line is invalid. */
  usage: 2,
  /** An input or output is missing, damaged, in use or not the expected one. */
  failed: 3,
} as const;

/** Error codes for programs. Codes are stable across versions; messages are not. */
export type CliErrorCode =
  /** The command line is invalid. */
  | "ERR_USAGE"
  /** A source cannot be read or has the wrong format. */
  | "ERR_SOURCE"
  /** The output cannot be written. */
  | "ERR_OUTPUT";

/** The codes of errors of this program and of the API. */
export type ErrorCode = CliErrorCode | FleetErrorCode | SnapshotErrorCode;

/** An expected failure: its message is shown without a stack trace. */
export class CliError extends Error {
  override readonly name = "CliError";

  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }

  get exitCode(): number {
    return ["ERR_USAGE", "ERR_ARGUMENT"].includes(this.code) ? EXIT.usage : EXIT.failed;
  }
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a system error, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  return String(error.code);
}
