import { join } from "node:path";

/**
 * Where everything of a cache lies in its directory. docs/cache.md tells what each file is for.
 *
 * Names say what others have to know without opening a file: which image it is, and, of one that is being
 * filled, how much room it was promised.
 */
export class Layout {
  constructor(readonly directory: string) {}

  /** The file by which a directory is known as a cache. Its lock is the cache's, and its time the clock. */
  get lock(): string {
    return join(this.directory, "hedgerow-cache");
  }

  /** What is there while images take more room than they may, because they are in use. */
  get excess(): string {
    return join(this.directory, "excess");
  }

  /** What all processes have counted. */
  get totals(): string {
    return join(this.directory, "totals.json");
  }

  /** The same, while it is written. */
  get newTotals(): string {
    return `${this.totals}.new`;
  }

  /** What keeps more than one process from verifying in the background. */
  get verifier(): string {
    return join(this.directory, "verifier");
  }

  get images(): string {
    return join(this.directory, "images");
  }

  /** What is not whole yet. Each file's name begins with the name of the claim that it belongs to. */
  get filling(): string {
    return join(this.directory, "filling");
  }

  /** Which images came from where. */
  get sources(): string {
    return join(this.directory, "sources");
  }

  image(digest: string): string {
    return join(this.images, `${digest}${IMAGE}`);
  }

  /** What is known of an image. There is an image if, and only if, this is there. */
  record(digest: string): string {
    return join(this.images, `${digest}${RECORD}`);
  }

  /** The file whose lock says whether an image is in use. It is empty. */
  lease(digest: string): string {
    return join(this.images, `${digest}${LEASE}`);
  }

  claim(name: string): string {
    return join(this.filling, `${name}${CLAIM}`);
  }

  /** Why what a claim was for came to nothing. */
  failure(name: string): string {
    return join(this.filling, `${name}${FAILURE}`);
  }

  partial(digest: string, reserved: number): string {
    return join(this.filling, `${digest}.${reserved}${PARTIAL}`);
  }

  /** The record of an image that is not there yet. */
  newRecord(digest: string): string {
    return join(this.filling, `${digest}${RECORD}`);
  }
}

export const [IMAGE, RECORD, LEASE] = [".img", ".record", ".lease"];

export const [CLAIM, FAILURE] = [".claim", ".failed"];

const PARTIAL = ".part";

const DIGEST = /^[0-9a-f]{64}/;

/** The digest that the name of a file in `images` begins with, if it ends with `kind`. */
export function digestOf(name: string, kind: string): string | undefined {
  const isOne = name.endsWith(kind) && name.length === 64 + kind.length && DIGEST.test(name);
  return isOne ? name.slice(0, 64) : undefined;
}

/** How much room a file in `filling` was promised, by its name, in bytes. */
export function reservedOf(name: string): number {
  const [, reserved = "0"] = /^[0-9a-f]{64}\.(\d{1,16})\.part$/.exec(name) ?? [];
  return Number(reserved);
}

/** The name of the claim that a file in `filling` belongs to. */
export function claimOf(name: string): string | undefined {
  return /^([0-9a-f]{64})\./.exec(name)?.[1];
}
