import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

import { withFile } from "../../local/system-failure.js";

/** How many places there are. Of two sources with the same place, the later one has it. */
const PLACES = 1024;

/** What a place holds: the digests of the source, its ETag and its image, and that of all that. */
const PLACE_LENGTH = 4 * 32;

/** How long the file is, in bytes. */
export const SOURCES_LENGTH = PLACES * PLACE_LENGTH;

/** What was found at a source, when it had an ETag. */
export interface Seen {
  /** The SHA-256 digest of the ETag. */
  readonly version: string;
  /** The digest of the snapshot. */
  readonly digest: string;
}

/**
 * Which snapshot was found where, so that a server that has the same ETag need not be asked for more. It is
 * a file of a fixed length: what is damaged there is not known, and nothing else.
 */
export class Sources {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @param source the SHA-256 digest of where it is. @throws {SnapshotError} `ERR_CACHE` */
  async seen(source: string): Promise<Seen | undefined> {
    const place = Buffer.alloc(PLACE_LENGTH);
    const read = this.#file.read(place, 0, PLACE_LENGTH, positionOf(source));
    await withFile("ERR_CACHE", "cannot read which images came from where", read);
    const [found, version, digest, sum] = [0, 32, 64, 96].map((at) =>
      place.toString("hex", at, at + 32),
    );
    const isIt = found === source && sum === sha256(place.subarray(0, 96));
    return isIt && version !== undefined && digest !== undefined ? { version, digest } : undefined;
  }

  /** @throws {SnapshotError} `ERR_CACHE` */
  async see(source: string, { version, digest }: Seen): Promise<void> {
    const place = Buffer.from(source + version + digest, "hex");
    const sum = Buffer.from(sha256(place), "hex");
    const bytes = Buffer.concat([place, sum]);
    const written = this.#file.write(bytes, 0, PLACE_LENGTH, positionOf(source));
    await withFile("ERR_CACHE", "cannot note which image came from where", written);
  }
}

function positionOf(source: string): number {
  return (Number.parseInt(source.slice(0, 8), 16) % PLACES) * PLACE_LENGTH;
}

/** The SHA-256 digest of something, as hexadecimal digits. */
export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
