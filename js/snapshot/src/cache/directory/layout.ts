import { join } from "node:path";

/**
 * The paths of all files in the directory of a cache. docs/cache.md describes what each file is for.
 *
 * A name tells other processes what they need to know without opening the file: which image it belongs to and,
 * for an image that is being restored, how much space is reserved for it.
 *
 * A key is what a process locks while it restores an image or looks up a source: the digest of a snapshot, or the
 * SHA-256 digest of a requester and source.
 */
export class Layout {
  constructor(readonly directory: string) {}

  /** The file that marks a directory as a cache. It carries the cache lock, and its time is the clock. */
  get lock(): string {
    return join(this.directory, "hedgerow-cache");
  }

  /** Contains the smallest limit that images in use exceed, and exists only while they do. */
  get excess(): string {
    return join(this.directory, "excess");
  }

  /** The counters of all processes. */
  get totals(): string {
    return join(this.directory, "totals.json");
  }

  /** The new totals while they are written. */
  get newTotals(): string {
    return `${this.totals}.new`;
  }

  /** The lock file that lets only one process verify in the background. */
  get verifier(): string {
    return join(this.directory, "verifier");
  }

  get images(): string {
    return join(this.directory, "images");
  }

  /** The directory of everything incomplete. The name of each file begins with its key. */
  get filling(): string {
    return join(this.directory, "filling");
  }

  /** The snapshot last seen at each source. */
  get sources(): string {
    return join(this.directory, "sources");
  }

  image(digest: string): string {
    return join(this.images, `${digest}${IMAGE}`);
  }

  /** The record of an image. The cache contains an image if, and only if, its record exists. */
  record(digest: string): string {
    return join(this.images, `${digest}${RECORD}`);
  }

  /** The empty file whose lock tells whether an image is in use. */
  lease(digest: string): string {
    return join(this.images, `${digest}${LEASE}`);
  }

  /** The lock file of a key. */
  claim(key: string): string {
    return join(this.filling, `${key}${CLAIM}`);
  }

  /** An image that is being restored, for which `reserved` bytes are reserved. */
  partial(digest: string, reserved: number): string {
    return join(this.filling, `${digest}.${reserved}${PARTIAL}`);
  }

  /** The record of an image that is not published yet. */
  newRecord(digest: string): string {
    return join(this.filling, `${digest}${RECORD}`);
  }
}

export const [IMAGE, RECORD, LEASE] = [".img", ".record", ".lease"];

export const CLAIM = ".claim";

const PARTIAL = ".part";

const DIGEST = /^[0-9a-f]{64}/;

/** Returns the digest in the name of a file in `images`, if the name ends with `extension`. */
export function digestOf(name: string, extension: string): string | undefined {
  const isOne =
    name.endsWith(extension) && name.length === 64 + extension.length && DIGEST.test(name);
  return isOne ? name.slice(0, 64) : undefined;
}

/** Returns the number of bytes that the name of a file in `filling` reserves. */
export function reservedBy(name: string): number {
  const [, reserved = "0"] = /^[0-9a-f]{64}\.(\d{1,16})\.part$/.exec(name) ?? [];
  return Number(reserved);
}

/** Returns the key that a file in `filling` belongs to. */
export function keyOf(name: string): string | undefined {
  return /^([0-9a-f]{64})\./.exec(name)?.[1];
}
