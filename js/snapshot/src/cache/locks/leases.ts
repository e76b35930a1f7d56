import { type BigIntStats, existsSync } from "node:fs";

import type { SnapshotInfo } from "../../format/manifest.js";
import type { Libc } from "../../local/libc.js";
import { readRecord } from "../directory/image-record.js";
import type { Layout } from "../directory/layout.js";
import { diskUsage, lstatIfPresent } from "../directory/lstat.js";
import type { Recency } from "../directory/recency.js";
import { LeaseFile } from "./lease-file.js";

/**
 * The use of an image by this process, shared by all who use it here.
 *
 * While its file is open and locked, no other process evicts the image of that name. That holds for the name: an
 * image that was deleted or replaced meanwhile stays readable for those who have it open.
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
  readonly #libc: Libc;
  readonly #layout: Layout;
  readonly #recency: Recency;
  readonly #leases = new Map<string, Lease>();

  constructor(libc: Libc, layout: Layout, recency: Recency) {
    this.#libc = libc;
    this.#layout = layout;
    this.#recency = recency;
  }

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
    if (!existsSync(this.#layout.record(digest))) return undefined;
    const known = this.#leases.get(digest);
    if (known?.isInPlace) return this.#check(digest, isUse, () => known.share());
    const file = LeaseFile.open(this.#libc, this.#layout.lease(digest));
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

  /** Calls `begin` if the image is there and its file is as it was published. The shared lock must be held. */
  #check(
    digest: string,
    isUse: boolean,
    begin: (path: string, info: SnapshotInfo, bytes: number) => Lease,
  ): Lease | "damaged" | undefined {
    const path = this.#layout.image(digest);
    const recordPath = this.#layout.record(digest);
    const record = readRecord(recordPath, digest);
    const imageStats = lstatIfPresent(path);
    const recordStats = lstatIfPresent(recordPath);
    if (record === undefined || imageStats === undefined) return undefined;
    if (!isAsPublished(imageStats, record.info)) return "damaged";
    if (isUse) this.#recency.touch(path);
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
