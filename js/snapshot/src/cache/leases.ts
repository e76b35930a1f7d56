/** The uses of images: shared locks that keep it from eviction, and the time of its last use. */
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  futimesSync,
  lutimesSync,
  openSync,
} from "node:fs";

import type { SnapshotInfo } from "../format/manifest.js";
import type { Libc } from "../local/libc.js";
import { flock } from "../local/locks.js";
import { READ_FLAGS } from "../local/open-file.js";
import { isUnfit, PRIVATE_MODE } from "../local/private-file.js";
import { isReadOnlyError, wrapSystemErrorsSync } from "../local/system-errors.js";
import { diskUsage, lstatIfPresent, type OpenDirectory } from "./files.js";
import { readRecord } from "./record.js";

/** The file whose lock protects an image: shared while the image is in use, exclusive while it is evicted. */
export class LeaseFile {
  private constructor(
    private readonly libc: Libc,
    private readonly fd: number,
  ) {}

  /**
   * Opens the file of an image, or creates it. Returns undefined if it is not a regular file, or cannot be created.
   *
   * @throws {SnapshotError} `ERR_CACHE`
   */
  static open({ libc, layout }: OpenDirectory, digest: string): LeaseFile | undefined {
    const path = layout.lease(digest);
    const fd = wrapSystemErrorsSync("ERR_CACHE", `cannot open ${path}`, () => {
      try {
        return openSync(path, READ_FLAGS | constants.O_CREAT, PRIVATE_MODE);
      } catch (error) {
        if (isUnfit(error) || isReadOnlyError(error)) return undefined;
        throw error;
      }
    });
    if (fd === undefined) return undefined;
    if (fstatSync(fd).isFile()) return new LeaseFile(libc, fd);
    closeSync(fd);
    return undefined;
  }

  /** Whether the file still has its name, so that others open the same file. */
  get isInPlace(): boolean {
    return fstatSync(this.fd).nlink > 0;
  }

  /** Returns false if the image is being evicted. */
  lockShared(): boolean {
    return flock(this.libc, this.fd, "shared") && this.isInPlace;
  }

  /** Returns false if the image is in use. */
  lockExclusive(): boolean {
    return flock(this.libc, this.fd, "exclusive");
  }

  close(): void {
    closeSync(this.fd);
  }
}

/**
 * The use of an image by this process, shared by all callers.
 *
 * While its file is open and locked, no other process evicts the image of that name. That holds for the name: an
 * image that was deleted or replaced meanwhile stays readable for programs that have it open.
 */
export class Lease {
  #users = 1;

  constructor(
    private readonly file: LeaseFile,
    readonly path: string,
    readonly info: SnapshotInfo,
    /** The disk usage of the image and its record, in bytes. */
    readonly bytes: number,
    private readonly onEnded: (lease: Lease) => void,
  ) {}

  /** Whether the lease still protects the name of its image. */
  get isInPlace(): boolean {
    return this.file.isInPlace;
  }

  /** Adds a user and returns the same lease. */
  share(): Lease {
    this.#users += 1;
    return this;
  }

  /** Removes a user. Returns whether it was the last one, which ends the lease. */
  release(): boolean {
    this.#users -= 1;
    if (this.#users > 0) return false;
    this.onEnded(this);
    this.file.close();
    return true;
  }
}

/** The leases of this process. */
export class Leases {
  readonly #leases = new Map<string, Lease>();

  constructor(private readonly directory: OpenDirectory) {}

  /** The number of images in use. */
  get count(): number {
    return this.#leases.size;
  }

  /** The disk usage of the images in use, in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const lease of this.#leases.values()) bytes += lease.bytes;
    return bytes;
  }

  /**
   * Leases an image. Returns undefined if the image is missing or being evicted, and "damaged" if its length, owner
   * or mode is wrong.
   *
   * @param isUse whether this counts as a use of the image for eviction
   * @throws {SnapshotError} `ERR_CACHE`
   */
  take(digest: string, isUse = true): Lease | "damaged" | undefined {
    if (!existsSync(this.directory.layout.record(digest))) return undefined;
    const known = this.#leases.get(digest);
    if (known?.isInPlace) return this.#check(digest, isUse, () => known.share());
    const file = LeaseFile.open(this.directory, digest);
    // Not a regular file. A restore will replace it, and another process may be doing that now.
    if (file === undefined) return undefined;
    try {
      if (!file.lockShared()) {
        file.close();
        return undefined;
      }
      const lease = this.#check(digest, isUse, (path, info, bytes) => {
        const begun = new Lease(file, path, info, bytes, (ended) => {
          if (this.#leases.get(digest) === ended) this.#leases.delete(digest);
        });
        this.#leases.set(digest, begun);
        return begun;
      });
      if (!(lease instanceof Lease)) file.close();
      return lease;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Calls `begin` if the image is there and its file has not changed since. The shared lock must be held. */
  #check(
    digest: string,
    isUse: boolean,
    begin: (path: string, info: SnapshotInfo, bytes: number) => Lease,
  ): Lease | "damaged" | undefined {
    const path = this.directory.layout.image(digest);
    const recordPath = this.directory.layout.record(digest);
    const record = readRecord(recordPath, digest);
    const imageStats = lstatIfPresent(path);
    const recordStats = lstatIfPresent(recordPath);
    if (record === undefined || imageStats === undefined) return undefined;
    if (!isAsPublished(imageStats, record.info)) return "damaged";
    if (isUse) touch(path, this.directory.lock.fd);
    return begin(path, record.info, diskUsage(imageStats) + diskUsage(recordStats));
  }
}

/** Returns whether it is a regular file of the image's size that no other user could have written. */
function isAsPublished(stats: BigIntStats, { imageSize }: SnapshotInfo): boolean {
  const isOwn = Number(stats.uid) === (process.getuid?.() ?? Number(stats.uid));
  return (
    stats.isFile() && isOwn && (stats.mode & 0o022n) === 0n && Number(stats.size) === imageSize
  );
}

/** The year 2100, in microseconds. A clock beyond it was set by mistake, and numbers could not represent it exactly. */
const MAX_TIME = 4_102_444_800_000_000n;

/**
 * Marks an image as the most recently used: by the modification time of its file, in microseconds. The times come from a
 * clock that all processes share and that never goes back, even if the system's does: the modification time of one file.
 *
 * @param clock the open file whose modification time is the clock
 */
function touch(path: string, clock: number): void {
  try {
    const time = lastUsed(fstatSync(clock, { bigint: true }));
    const last = time < MAX_TIME ? time : 0n;
    const now = BigInt(Date.now()) * 1000n;
    // Node truncates to microseconds: half a microsecond more keeps rounding from losing one.
    const seconds = (Number(now > last ? now : last + 1n) + 0.5) / 1e6;
    futimesSync(clock, seconds, seconds);
    lutimesSync(path, seconds, seconds);
  } catch {
    // An image stays usable where its time cannot be written, as on a read-only file system.
  }
}

/** Returns when a file was last used, in microseconds. */
export function lastUsed({ mtimeNs }: { readonly mtimeNs: bigint }): bigint {
  return mtimeNs / 1000n;
}
