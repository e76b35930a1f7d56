import { type BigIntStats, closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";

import type { SnapshotInfo } from "../../format/manifest.js";
import type { Libc } from "../../local/libc.js";
import { isUnfit } from "../../local/private-file.js";
import { withFileSync } from "../../local/system-failure.js";
import { PRIVATE } from "../../local/whole-file.js";
import { readRecord } from "../directory/image-record.js";
import type { Layout } from "../directory/layout.js";
import { bytesOf, find } from "../directory/lstat.js";
import type { Recency } from "../eviction/recency.js";
import { lockAlone, lockShared } from "./lock.js";

/** Windows has no such flag, and no cache. */
const { O_RDONLY, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A pipe is not waited for, and a link not followed. */
const LEASE_FLAGS = O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/**
 * An image that is in use. As long as its file is open, that has a lock which keeps the image's name from
 * going, whatever image has that name: one that is taken out meanwhile stays, or another takes its place.
 */
export class Lease {
  #users = 1;

  constructor(
    private readonly file: LeaseFile,
    readonly path: string,
    readonly info: SnapshotInfo,
    /** What it takes on the disk, with its record, in bytes. */
    readonly bytes: number,
    private readonly ended: (lease: Lease) => void,
  ) {}

  /** Whether others see it. */
  get isInPlace(): boolean {
    return this.file.isInPlace;
  }

  /** The same, for one more user. */
  share(): Lease {
    this.#users += 1;
    return this;
  }

  /** Ends it for one user. Returns whether it was the last one. */
  release(): boolean {
    this.#users -= 1;
    if (this.#users > 0) return false;
    this.ended(this);
    this.file.close();
    return true;
  }
}

/** The images that this process uses. */
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

  /** How many images are in use. */
  get count(): number {
    return this.#leases.size;
  }

  /** What they take on the disk, in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const lease of this.#leases.values()) bytes += lease.bytes;
    return bytes;
  }

  /**
   * Begins to use an image. Returns undefined if there is none, or if it is on its way out, and "damaged"
   * if it is not as long as it was.
   *
   * @param isUse whether that is a use, by which others go before it
   * @throws {SnapshotError} `ERR_CACHE`
   */
  take(digest: string, isUse = true): Lease | "damaged" | undefined {
    if (!existsSync(this.#layout.record(digest))) return undefined;
    const known = this.#leases.get(digest);
    if (known?.isInPlace) return this.#find(digest, isUse, () => known.share());
    const file = LeaseFile.open(this.#libc, this.#layout.lease(digest));
    // It goes with its image when that is restored anew: another process may just have made it a file.
    if (file === undefined) return undefined;
    try {
      if (!file.lockShared()) {
        file.close();
        return undefined;
      }
      const lease = this.#find(digest, isUse, (path, info, bytes) => {
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

  /** Has `begin` begin to use an image, which stays as it is meanwhile, if it is whole. */
  #find(
    digest: string,
    isUse: boolean,
    begin: (path: string, info: SnapshotInfo, bytes: number) => Lease,
  ): Lease | "damaged" | undefined {
    const path = this.#layout.image(digest);
    const recordPath = this.#layout.record(digest);
    const record = readRecord(recordPath, digest);
    const found = find(path);
    const ownFound = find(recordPath);
    if (record === undefined || found === undefined) return undefined;
    if (!isWhole(found, record.info)) return "damaged";
    if (isUse) this.#recency.touch(path);
    return begin(path, record.info, bytesOf(found) + bytesOf(ownFound));
  }
}

/** The file whose lock says that an image is in use, or that it is going. */
export class LeaseFile {
  private constructor(
    private readonly libc: Libc,
    private readonly fd: number,
  ) {}

  /** Opens the file at a path, or a new one. Returns undefined if what is there is none. @throws {SnapshotError} `ERR_CACHE` */
  static open(libc: Libc, path: string): LeaseFile | undefined {
    const fd = withFileSync("ERR_CACHE", `cannot open ${path}`, () => {
      try {
        return openSync(path, LEASE_FLAGS, PRIVATE);
      } catch (error) {
        if (isUnfit(error)) return undefined;
        throw error;
      }
    });
    if (fd === undefined) return undefined;
    if (fstatSync(fd).isFile()) return new LeaseFile(libc, fd);
    closeSync(fd);
    return undefined;
  }

  /** Whether others open the same. */
  get isInPlace(): boolean {
    return fstatSync(this.fd).nlink > 0;
  }

  /** Returns false if the image is going. */
  lockShared(): boolean {
    return lockShared(this.libc, this.fd) && this.isInPlace;
  }

  /** Returns false if the image is in use. */
  lockAlone(): boolean {
    return lockAlone(this.libc, this.fd);
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** Whether it is a file of that length that nobody else may have written. */
function isWhole(found: BigIntStats, { imageSize }: SnapshotInfo): boolean {
  const isOwn = Number(found.uid) === (process.getuid?.() ?? Number(found.uid));
  return (
    found.isFile() && isOwn && (found.mode & 0o022n) === 0n && Number(found.size) === imageSize
  );
}
