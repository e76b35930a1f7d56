/** The kind of an error. Codes are stable across versions; messages are not. */
export type SnapshotErrorCode =
  /** An argument has the wrong type or is out of range. */
  | "ERR_ARGUMENT"
  /** The image cannot be read, or no snapshot can be created from it. */
  | "ERR_IMAGE"
  /** The image changed while a snapshot was created from it. */
  | "ERR_IMAGE_CHANGED"
  /** The snapshot cannot be read from its file or server. */
  | "ERR_SOURCE"
  /** The snapshot changed on its server while it was read. */
  | "ERR_SOURCE_CHANGED"
  /** The file is not a snapshot, or is damaged. */
  | "ERR_SNAPSHOT_FORMAT"
  /** The snapshot does not have the expected digest. */
  | "ERR_SNAPSHOT_DIGEST"
  /** The file or object cannot be written. */
  | "ERR_TARGET"
  /** The directory cannot be used as a cache, or the cache was closed. */
  | "ERR_CACHE"
  /** The snapshot is larger than the limit of the cache. */
  | "ERR_CACHE_SIZE"
  /** The disk was closed. */
  | "ERR_DISK_CLOSED"
  /** The store of disks is missing, is damaged, cannot be reached, or does not support conditional writes. */
  | "ERR_STORE"
  /** The store has no disk of this name, or the disk has no generation of this number. */
  | "ERR_NO_DISK"
  /** The store has a disk of this name. */
  | "ERR_DISK_EXISTS"
  /** The disk is attached elsewhere. */
  | "ERR_ATTACHED"
  /** Another host has taken the disk, or it was removed: its unsaved changes can only be saved as a new disk. */
  | "ERR_LEASE_LOST"
  /** A freeze or thaw hook failed or took too long. */
  | "ERR_HOOK"
  /** A worker could not be started, or ended before its work was done; or memory ran out, or is faulty. */
  | "ERR_WORKER";

/** The optional properties of an error. */
export interface Details {
  /** The name of the invalid field in `docs/vhs.md`, or of the volume that lacks bytes. */
  readonly field?: string | undefined;
  /** The offset of the field in the file, in bytes. */
  readonly offset?: number | undefined;
  readonly cause?: unknown;
  /** The HTTP status of the response. */
  readonly status?: number | undefined;
}

/**
 * An error of this package. The message says what was expected, what was found, and where. An error of the
 * system is the `cause`.
 */
export class SnapshotError extends Error {
  /** The name of the class. */
  override readonly name = "SnapshotError";
  /** The name of the invalid field in `docs/vhs.md`, for `ERR_SNAPSHOT_FORMAT`; of the volume, for `ERR_IMAGE` of a save. */
  readonly field: string | undefined;
  /** The offset of the field in the file, in bytes, for `ERR_SNAPSHOT_FORMAT`. */
  readonly offset: number | undefined;
  /** The HTTP status of the response, if the server refused a request. */
  readonly status: number | undefined;

  /** @internal */
  constructor(
    /** The kind of the error. */
    readonly code: SnapshotErrorCode,
    message: string,
    { field, offset, cause, status }: Details = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.field = field;
    this.offset = offset;
    this.status = status;
  }
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
