/** Consecutive bytes of an export with the same status. */
export interface StatusExtent {
  /** The number of bytes. */
  readonly length: number;
  /** The status flags, as {@link CONTEXT} defines them. */
  readonly flags: number;
}

/** The name of the only metadata context of an export. */
export const CONTEXT = "base:allocation";

/**
 * A block device that a server exports. Ranges are within the device. Calls may overlap. Clients get `ENOSPC` for an
 * error with the code of a full disk, `ESHUTDOWN` for `ERR_DISK_CLOSED`, and `EIO` for any other.
 */
export interface Export {
  /** The size, in bytes. */
  readonly size: number;
  readonly isReadOnly: boolean;
  /** Fills `target` at once, if nothing has to be fetched for it. Returns whether it did. */
  readNow(offset: number, target: Uint8Array): boolean;
  /** Waits until {@link readNow} can fill a range. */
  load(offset: number, length: number): Promise<void>;
  /** Writes bytes. The caller must not change them until the promise settles. */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Turns a range to zeros. @param mayPunch whether it may become a hole */
  writeZeros(offset: number, length: number, mayPunch: boolean): Promise<void>;
  /** Discards a range, which may keep its content. */
  discard(offset: number, length: number): Promise<void>;
  /** Makes all earlier writes durable. */
  flush(): Promise<void>;
  /** Starts to fetch a range. */
  prefetch(offset: number, length: number): void;
  /** Returns the status of a range, or of its beginning: at least one extent, and at most `limit`. */
  status(offset: number, length: number, limit: number): StatusExtent[];
  /** Releases its resources. Called when its server is closed or fails to start. */
  release?(): Promise<void>;
}
