import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

import { wrapSystemErrors } from "../local/system-errors.js";

/** The number of slots. Two sources that hash to the same slot overwrite each other. */
const SLOTS = 1024;

/** The length of a slot: the digests of the source, its ETag and its snapshot, and the digest of these three. */
const SLOT_LENGTH = 4 * 32;

/** The length of the file, in bytes. */
export const INDEX_LENGTH = SLOTS * SLOT_LENGTH;

/** The snapshot that was last seen at a source with an ETag. */
export interface SeenSnapshot {
  /** The SHA-256 digest of the ETag. */
  readonly version: string;
  /** The digest of the snapshot. */
  readonly digest: string;
}

/**
 * Remembers which snapshot was seen at which source, so that an unchanged ETag saves fetching its manifest.
 *
 * It is a hash table in a file of fixed length. A damaged slot is empty; the others are not affected.
 */
export class SourceIndex {
  readonly #file: FileHandle | undefined;
  readonly #isReadOnly: boolean;

  /** @param isReadOnly whether nothing more can be remembered */
  constructor(file: FileHandle | undefined, isReadOnly = false) {
    this.#file = file;
    this.#isReadOnly = isReadOnly;
  }

  /**
   * Returns the last known state of a source.
   *
   * @param source the SHA-256 digest of its ID
   * @throws {SnapshotError} `ERR_CACHE`
   */
  async get(source: string): Promise<SeenSnapshot | undefined> {
    if (this.#file === undefined) return undefined;
    const slot = Buffer.alloc(SLOT_LENGTH);
    const read = this.#file.read(slot, 0, SLOT_LENGTH, positionOf(source));
    await wrapSystemErrors("ERR_CACHE", "cannot read the source index of the cache", read);
    const digestAt = (at: number) => slot.toString("hex", at, at + 32);
    const isIntact = digestAt(96) === sha256(slot.subarray(0, 96));
    if (!isIntact || digestAt(0) !== source) return undefined;
    return { version: digestAt(32), digest: digestAt(64) };
  }

  /** Remembers what was seen at a source. @throws {SnapshotError} `ERR_CACHE` */
  async set(source: string, { version, digest }: SeenSnapshot): Promise<void> {
    if (this.#file === undefined || this.#isReadOnly) return;
    const slot = Buffer.from(source + version + digest, "hex");
    const sum = Buffer.from(sha256(slot), "hex");
    const bytes = Buffer.concat([slot, sum]);
    const written = this.#file.write(bytes, 0, SLOT_LENGTH, positionOf(source));
    await wrapSystemErrors("ERR_CACHE", "cannot write the source index of the cache", written);
  }
}

function positionOf(source: string): number {
  return (Number.parseInt(source.slice(0, 8), 16) % SLOTS) * SLOT_LENGTH;
}

/** Returns the SHA-256 digest of a text or bytes, in hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
