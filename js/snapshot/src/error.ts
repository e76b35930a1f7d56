/** What went wrong, for programs. These do not change between versions; messages may. */
export type SnapshotErrorCode =
  /** An argument of the wrong type, or beyond a limit. */
  | "ERR_ARGUMENT"
  /** An image that cannot be read, or of which no snapshot can be made. */
  | "ERR_IMAGE"
  /** An image that changed while a snapshot was made of it. */
  | "ERR_IMAGE_CHANGED"
  /** A snapshot that cannot be read: its file, or what a server answered. */
  | "ERR_SOURCE"
  /** A snapshot that changed on its server while it was read. */
  | "ERR_SOURCE_CHANGED"
  /** A file that is no snapshot, or a damaged one. */
  | "ERR_SNAPSHOT_FORMAT"
  /** A snapshot of another digest than the one that was asked for. */
  | "ERR_SNAPSHOT_DIGEST"
  /** A file or an object that cannot be written. */
  | "ERR_TARGET"
  /** A directory that cannot be used as a cache, or a cache that was closed. */
  | "ERR_CACHE"
  /** A snapshot that is larger than a cache may be. */
  | "ERR_CACHE_SIZE"
  /** A worker that ended before its work did. */
  | "ERR_WORKER";

/** Where in a snapshot something is wrong. */
export interface Place {
  /** The field, in the words of `docs/vhs.md`. */
  readonly field: string;
  /** Where the field lies, in bytes from the beginning of the file. */
  readonly offset: number;
}

/** What an error knows besides its message. */
export interface Details {
  readonly place?: Place | undefined;
  readonly cause?: unknown;
  /** What a server answered. */
  readonly status?: number | undefined;
}

/**
 * What this package throws of its own. The message says what was expected, what was found, and
 * where. What the system said is the `cause`.
 */
export class SnapshotError extends Error {
  /** The name of the class. */
  override readonly name = "SnapshotError";
  /** The field that is wrong, for `ERR_SNAPSHOT_FORMAT`. */
  readonly field: string | undefined;
  /** Where the field lies in the file, in bytes, for `ERR_SNAPSHOT_FORMAT`. */
  readonly offset: number | undefined;
  /** The status that a server answered with, if that is what is wrong. */
  readonly status: number | undefined;

  /** @internal */
  constructor(
    /** What went wrong. */
    readonly code: SnapshotErrorCode,
    message: string,
    { place, cause, status }: Details = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.field = place?.field;
    this.offset = place?.offset;
    this.status = status;
  }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
