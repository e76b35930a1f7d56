/** How the process ends: what scripts may rely on. */
export const EXIT = {
  /** The work is done; all paths that were asked for may be present. */
  done: 0,
  /** A path that was asked for is certainly absent. */
  absent: 1,
  /** Images of a cache were damaged, and are gone. */
  damaged: 1,
  /** The command line is not as `--help` says. */
  usage: 2,
  /** Something that was read or written is not as it should be. */
  failed: 3,
} as const;

/** What went wrong, for programs. These do not change between versions; messages may. */
export type CliErrorCode =
  /** The command line is not as `--help` says. */
  | "ERR_USAGE"
  /** A source that cannot be read, or is not what it should be. */
  | "ERR_SOURCE"
  /** An output that cannot be written. */
  | "ERR_OUTPUT";

/** A failure that its message explains: what was expected, what was found, and where. */
export class CliError extends Error {
  override readonly name = "CliError";

  constructor(
    readonly code: CliErrorCode,
    message: string,
  ) {
    super(message);
  }

  get exitCode(): number {
    return this.code === "ERR_USAGE" ? EXIT.usage : EXIT.failed;
  }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the system, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  return String(error.code);
}
