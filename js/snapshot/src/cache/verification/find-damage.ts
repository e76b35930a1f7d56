import { FrameDecoder, initSync } from "../../../wasm/decode.js";
import { SnapshotError } from "../../error.js";
import { dataExtents, type Extent } from "../../local/data-extents.js";
import { reading } from "../../local/open-file.js";
import { readFully } from "../../local/read-fully.js";
import { compiledModule } from "../../wasm/module.js";
import { type Piece, readPieces } from "../directory/image-record.js";
import type { Lease } from "../locks/leases.js";

/** The zeros with which holes are compared, a block of this length at a time. */
const ZEROS = Buffer.alloc(2 ** 20);

/** The maximum delay of a timer, in milliseconds: 24 days. */
const MAX_DELAY = 2 ** 31 - 1;

/** How images are read. */
export interface ReadPace {
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of bytes read per second. */
  readonly bytesPerSecond?: number | undefined;
  /** Waits for a number of milliseconds. */
  pause(milliseconds: number): Promise<void>;
}

/**
 * Reads all of an image and returns how it is damaged, or undefined if it is intact.
 *
 * @param fd the open image
 * @param record the path of its record
 * @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal
 */
export async function findDamage(
  { path, info }: Lease,
  fd: number,
  record: string,
  pace: ReadPace,
): Promise<string | undefined> {
  const pieces = await readPieces(record, info);
  if (pieces === undefined) return "its record is damaged";
  const throttle = new Throttle(pace);
  const fill = async (bytes: Uint8Array, position: number) => {
    const count = await reading("ERR_CACHE", path, readFully(fd, bytes, position));
    if (count < bytes.length) return false;
    await throttle.add(bytes.length);
    return true;
  };
  const wrong = await findWrongPiece(pieces, info.pieceSize, fill);
  if (wrong !== undefined) return `the piece at byte ${wrong} does not match its digest`;
  for (const { start, end } of gapsOf(
    pieces,
    info.imageSize,
    await extentsOf(fd, info.imageSize),
  )) {
    for (let position = start; position < end; position += ZEROS.length) {
      const bytes = Buffer.alloc(Math.min(ZEROS.length, end - position));
      const isRead = await fill(bytes, position);
      const isZero = isRead && bytes.equals(ZEROS.subarray(0, bytes.length));
      if (!isZero) return `the hole at byte ${position} contains data`;
    }
  }
  return undefined;
}

/** Returns the offset of the first piece that does not match its digest. */
async function findWrongPiece(
  pieces: readonly Piece[],
  pieceSize: number,
  fill: (bytes: Uint8Array, position: number) => Promise<boolean>,
): Promise<number | undefined> {
  const { memory } = initSync({ module: await compiledModule("decode") });
  const decoder = FrameDecoder.create(pieceSize, false);
  if (decoder === undefined) {
    throw new SnapshotError("ERR_CACHE", `cannot allocate memory for pieces of ${pieceSize} bytes`);
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

/** Yields the parts of extents that belong to no piece, and so must be zeros. */
export function* gapsOf(
  pieces: readonly Piece[],
  size: number,
  extents: readonly Extent[],
): Generator<Extent> {
  const ends = [...pieces, { offset: size, length: 0 }];
  let [index, position] = [0, 0];
  for (const { offset, length } of ends) {
    // The gap between the previous piece and this one.
    for (; index < extents.length; index += 1) {
      const { start, end } = extents[index] as Extent;
      const gap = { start: Math.max(start, position), end: Math.min(end, offset) };
      if (gap.start < gap.end) yield gap;
      if (end > offset) break;
    }
    position = offset + length;
  }
}

/** Limits the number of bytes read per second. */
class Throttle {
  readonly #pace: ReadPace;
  readonly #begun = performance.now();
  #bytes = 0;

  constructor(pace: ReadPace) {
    this.#pace = pace;
  }

  /** Counts bytes that were read, and waits if they came too soon. */
  async add(bytes: number): Promise<void> {
    const { signal, bytesPerSecond } = this.#pace;
    signal?.throwIfAborted();
    if (bytesPerSecond === undefined) return;
    this.#bytes += bytes;
    const ahead = (this.#bytes / bytesPerSecond) * 1000 - (performance.now() - this.#begun);
    if (ahead > 1) await this.#pace.pause(Math.min(ahead, MAX_DELAY));
  }
}
