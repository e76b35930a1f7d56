/** The errors of the command: which are expected, how they are printed, and with which code the process ends. */
import type { FleetErrorCode } from "@hedgerow/fleet";
import type { SnapshotErrorCode } from "@hedgerow/snapshot";
import { CommanderError } from "commander";

import { jsonOf, oneLine } from "./print.js";

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
  /** A place lacks what a use of it needs. */
  lacking: 1,
  /** The command line is invalid. */
  usage: 2,
  /** An input or output is missing, damaged, in use or not the expected one. */
  failed: 3,
} as const;

/** Error codes for programs. Codes are stable across versions; messages are not. */
type CliErrorCode =
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

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** Error classes of the packages, by name, so that a command loads only the packages it needs. */
const EXPECTED = new Set(["HedgerowError", "SnapshotError", "FleetError"]);

/** Matches the messages of V8 for memory that it cannot allocate. */
const OUT_OF_MEMORY = /out of memory|could not allocate|allocation failed/i;

/** Hints of the API, and their counterparts on the command line. */
const HINTS = [
  ['pass format: "raw"', "pass --format raw"],
  ["pass overwrite: true", "omit --no-overwrite"],
  ["pass steal: true", "pass --steal"],
  ["pass images,", "pass --images,"],
] as const;

/** Describes an expected error; returns `undefined` for a bug in this program. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) {
    // For a group without a command, commander prints the help and sets no message.
    const message = error.code === "commander.help" ? "expected a command" : error.message;
    return { code: "ERR_USAGE", message: message.replace(/^error: /, ""), exitCode: EXIT.usage };
  }
  if (error instanceof CliError) return error;
  if (error instanceof Error && EXPECTED.has(error.name)) {
    const { code, message: text } = error as Error & { code: string };
    const message = HINTS.reduce((found, [hint, option]) => found.replace(hint, option), text);
    return { code, message, exitCode: code === "ERR_ARGUMENT" ? EXIT.usage : EXIT.failed };
  }
  if (error instanceof RangeError && OUT_OF_MEMORY.test(error.message)) {
    const message = `too little memory, or a low limit of virtual memory (ulimit -v): ${error.message}`;
    return { code: "ERR_WORKER", message, exitCode: EXIT.failed };
  }
  const code = systemCode(error);
  if (code === undefined) return undefined;
  return { code, message: (error as Error).message, exitCode: EXIT.failed };
}

/** Prints an error on standard error, in one line, and returns the exit code. */
export function report(error: unknown, json: boolean): number {
  const failure = failureOf(error);
  if (failure === undefined) {
    console.error(error);
    return EXIT.failed;
  }
  const { code, message, exitCode } = failure;
  const line = oneLine(message);
  process.stderr.write(json ? jsonOf({ error: { code, message: line } }) : `hedgerow: ${line}\n`);
  return exitCode;
}
