import { initSync, Tail } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { compiledModule } from "../wasm/module.js";
import { errorOf } from "../wasm/refusal.js";
import { Frames } from "./frames.js";

/** What is read of the end of a file at first, in bytes: enough for 1,200 frames. */
export const FIRST_LENGTH = 1 << 16;

/** How long a digest is, in bytes. */
const DIGEST_LENGTH = 32;

/** The bytes of a snapshot, wherever they are. */
export interface SnapshotBytes {
  /** What it is called in messages. */
  readonly name: string;
  /** How long it is, in bytes. */
  readonly size: number;
  /** Reads `length` bytes at `position`. */
  read(position: number, length: number): Promise<Uint8Array>;
}

/** What a snapshot says of itself. */
export interface SnapshotInfo {
  /** The identity of the snapshot: 64 hexadecimal digits, the BLAKE3 digest of its manifest. */
  readonly digest: string;
  /** The size of the image, in bytes. */
  readonly imageSize: number;
  /** How much of the image is data, in bytes. */
  readonly dataSize: number;
  /** How much of the image is holes, in bytes. */
  readonly holeSize: number;
  /** The size of the snapshot's file, in bytes. */
  readonly fileSize: number;
  /** The most bytes of the image that a frame of data holds. */
  readonly pieceSize: number;
  /** How many frames are data. */
  readonly dataFrames: number;
  /** How many frames are holes. */
  readonly holeFrames: number;
}

/** The manifest of a snapshot: what it says, and its frames. */
export interface Manifest {
  readonly info: SnapshotInfo;
  readonly frames: Frames;
}

/**
 * Reads the manifest of a snapshot. What the file says of itself twice is compared, except for its
 * header, which nothing depends on: `isStrict` looks at it too.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_SOURCE`
 */
export async function readManifest(file: SnapshotBytes, isStrict = false): Promise<Manifest> {
  const { memory } = initSync({ module: await compiledModule("decode") });
  const tail = new Tail(file.size);
  try {
    if (!(await parse(tail, file, isStrict, memory))) {
      throw errorOf("ERR_SNAPSHOT_FORMAT", `${file.name}: `, tail.refusal(), memory);
    }
    const frames = Frames.copy(memory, tail.records(), tail.frames());
    return { info: infoOf(tail, file, memory), frames };
  } finally {
    tail.free();
  }
}

/** Has the module read the end of a file. Returns whether it is right. */
async function parse(
  tail: Tail,
  file: SnapshotBytes,
  isStrict: boolean,
  memory: WebAssembly.Memory,
): Promise<boolean> {
  const fill = async (length: number) => {
    const bytes = await file.read(file.size - length, length);
    const start = tail.reserve(length);
    if (start === 0) {
      throw new SnapshotError("ERR_SNAPSHOT_FORMAT", `${file.name}: no memory for ${length} bytes`);
    }
    new Uint8Array(memory.buffer).set(bytes, start);
  };
  const first = Math.min(file.size, FIRST_LENGTH);
  await fill(first);
  const length = tail.length();
  if (length > first) await fill(length);
  if (isStrict) await readHeader(tail, file, memory);
  if (length > 0 && tail.parse(isStrict)) return true;
  // The header tells the version, whatever else there may be in another one.
  if (!isStrict) await readHeader(tail, file, memory);
  tail.blame_version();
  return false;
}

/** Gives the module the header, if the file is long enough to have one. */
async function readHeader(
  tail: Tail,
  file: SnapshotBytes,
  memory: WebAssembly.Memory,
): Promise<void> {
  const length = tail.header_length();
  if (file.size < length) return;
  const header = await file.read(0, length);
  new Uint8Array(memory.buffer).set(header, tail.header());
}

function infoOf(tail: Tail, file: SnapshotBytes, memory: WebAssembly.Memory): SnapshotInfo {
  const [imageSize, dataSize, dataFrames] = [
    tail.image_size(),
    tail.data_size(),
    tail.data_frames(),
  ];
  return {
    digest: Buffer.from(memory.buffer, tail.identity(), DIGEST_LENGTH).toString("hex"),
    imageSize,
    dataSize,
    holeSize: imageSize - dataSize,
    fileSize: file.size,
    pieceSize: tail.piece_size(),
    dataFrames,
    holeFrames: tail.frames() - dataFrames,
  };
}
