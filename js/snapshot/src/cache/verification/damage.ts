import { FrameDecoder, initSync } from "../../../wasm/decode.js";
import { SnapshotError } from "../../error.js";
import { dataExtents, type Extent } from "../../local/data-extents.js";
import { reading } from "../../local/open-file.js";
import { readFully } from "../../local/read-fully.js";
import { compiledModule } from "../../wasm/module.js";
import { type Piece, readPieces } from "../directory/image-record.js";
import type { Lease } from "../locks/leases.js";

/** How many bytes of what should be zeros are looked at at a time. */
const ZEROS = Buffer.alloc(2 ** 20);

/** The longest that a timer takes, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1;

/** How an image is looked at. */
export interface Looking {
  readonly signal?: AbortSignal | undefined;
  /** How many bytes a second are read at most. */
  readonly bytesPerSecond?: number | undefined;
  /** Waits for so many milliseconds. */
  pause(milliseconds: number): Promise<void>;
}

/**
 * Reads all of an image, and says what is wrong with it, or returns undefined.
 *
 * @param fd the image, which is open
 * @param record the path of its record
 * @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal
 */
export async function damageOf(
  { path, info }: Lease,
  fd: number,
  record: string,
  looking: Looking,
): Promise<string | undefined> {
  const pieces = await readPieces(record, info);
  if (pieces === undefined) return "its record is damaged";
  const pace = new Pace(looking);
  const fill = async (bytes: Uint8Array, position: number) => {
    const count = await reading("ERR_CACHE", path, readFully(fd, bytes, position));
    if (count < bytes.length) return false;
    await pace.keep(bytes.length);
    return true;
  };
  const wrong = await wrongPiece(pieces, info.pieceSize, fill);
  if (wrong !== undefined) return `its bytes from ${wrong} on are not what was restored`;
  for (const { start, end } of gapsOf(
    pieces,
    info.imageSize,
    await extentsOf(fd, info.imageSize),
  )) {
    for (let position = start; position < end; position += ZEROS.length) {
      const bytes = Buffer.alloc(Math.min(ZEROS.length, end - position));
      const isRead = await fill(bytes, position);
      const isZero = isRead && bytes.equals(ZEROS.subarray(0, bytes.length));
      if (!isZero) return `its bytes from ${position} on are not zeros`;
    }
  }
  return undefined;
}

/** Where the first piece lies that is not what it was. */
async function wrongPiece(
  pieces: readonly Piece[],
  pieceSize: number,
  fill: (bytes: Uint8Array, position: number) => Promise<boolean>,
): Promise<number | undefined> {
  const { memory } = initSync({ module: await compiledModule("decode") });
  const decoder = FrameDecoder.create(pieceSize, false);
  if (decoder === undefined) {
    throw new SnapshotError("ERR_CACHE", `no memory for pieces of ${pieceSize} bytes`);
  }
  try {
    const piece = Buffer.alloc(pieceSize);
    for (const { offset, length, digest } of pieces) {
      const bytes = piece.subarray(0, length);
      if (length > pieceSize || !(await fill(bytes, offset))) return offset;
      new Uint8Array(memory.buffer).set(bytes, decoder.out());
      const found = Buffer.from(memory.buffer, decoder.out_digest(length), digest.length);
      if (!found.equals(digest)) return offset;
    }
    return undefined;
  } finally {
    decoder.free();
  }
}

async function extentsOf(fd: number, size: number): Promise<readonly Extent[]> {
  return (await dataExtents(fd, size)) ?? [{ start: 0, end: size }];
}

/** What may be data, and is of no piece. */
export function* gapsOf(
  pieces: readonly Piece[],
  size: number,
  extents: readonly Extent[],
): Generator<Extent> {
  const ends = [...pieces, { offset: size, length: 0 }];
  let [index, position] = [0, 0];
  for (const { offset, length } of ends) {
    // What lies between the piece before and this one.
    for (; index < extents.length; index += 1) {
      const { start, end } = extents[index] as Extent;
      const gap = { start: Math.max(start, position), end: Math.min(end, offset) };
      if (gap.start < gap.end) yield gap;
      if (end > offset) break;
    }
    position = offset + length;
  }
}

/** Has no more bytes be read in a second than there may be. */
class Pace {
  readonly #looking: Looking;
  readonly #begun = performance.now();
  #bytes = 0;

  constructor(looking: Looking) {
    this.#looking = looking;
  }

  async keep(bytes: number): Promise<void> {
    const { signal, bytesPerSecond } = this.#looking;
    signal?.throwIfAborted();
    if (bytesPerSecond === undefined) return;
    this.#bytes += bytes;
    const ahead = (this.#bytes / bytesPerSecond) * 1000 - (performance.now() - this.#begun);
    if (ahead > 1) await this.#looking.pause(Math.min(ahead, LONGEST));
  }
}
