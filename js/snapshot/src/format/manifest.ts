import { initSync, Tail } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { compiledModule } from "../wasm/module.js";
import { errorOf } from "../wasm/wasm-error.js";
import { Frames } from "./frames.js";

/** The number of bytes to read first from the end of a snapshot: enough for 1,200 frames. */
export const FIRST_LENGTH = 1 << 16;

/** The length of a digest, in bytes. */
const DIGEST_LENGTH = 32;

/** Random access to the bytes of a snapshot. */
export interface SnapshotBytes {
  /** The name of the snapshot in messages. */
  readonly name: string;
  /** The size of the snapshot, in bytes. */
  readonly size: number;
  /** Reads `length` bytes at `position`. */
  read(position: number, length: number): Promise<Uint8Array>;
}

/** The properties of a snapshot. */
export interface SnapshotInfo {
  /** The identity of the snapshot: 64 hexadecimal digits, the BLAKE3 digest of its manifest. */
  readonly digest: string;
  /** The size of the image, in bytes. */
  readonly imageSize: number;
  /** The number of bytes of the image that are data. */
  readonly dataSize: number;
  /** The number of bytes of the image that are holes. */
  readonly holeSize: number;
  /** The size of the snapshot, in bytes. */
  readonly fileSize: number;
  /** The size of a piece, in bytes: the most data that a frame holds. */
  readonly pieceSize: number;
  /** The number of frames of data. */
  readonly dataFrames: number;
  /** The number of frames that are holes. */
  readonly holeFrames: number;
}

/** The manifest of a snapshot: its properties and its frames. */
export interface Manifest {
  readonly info: SnapshotInfo;
  readonly frames: Frames;
}

/**
 * Reads and verifies the manifest of a snapshot.
 *
 * @param isStrict also checks the header, which restoring does not need
 * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_SOURCE`
 */
export async function readManifest(file: SnapshotBytes, isStrict = false): Promise<Manifest> {
  const { memory } = initSync({ module: await compiledModule("decode") });
  const tail = new Tail(file.size);
  try {
    if (!(await parse(tail, file, isStrict, memory))) {
      throw errorOf("ERR_SNAPSHOT_FORMAT", `${file.name}: `, tail.take_error(), memory);
    }
    const frames = Frames.copy(memory, tail.records(), tail.frames());
    return { info: infoOf(tail, file, memory), frames };
  } finally {
    tail.free();
  }
}

/** Parses the end of a snapshot. Returns false if it is invalid; `tail.take_error()` then says why. */
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
      throw new SnapshotError(
        "ERR_SNAPSHOT_FORMAT",
        `${file.name}: out of memory for a manifest of ${length} bytes`,
      );
    }
    new Uint8Array(memory.buffer).set(bytes, start);
  };
  const first = Math.min(file.size, FIRST_LENGTH);
  await fill(first);
  const length = tail.length();
  if (length > first) await fill(length);
  if (isStrict) await readHeader(tail, file, memory);
  if (length > 0 && tail.parse(isStrict)) return true;
  // A later version may change everything but the header: read it, so that the error names the version.
  if (!isStrict) await readHeader(tail, file, memory);
  tail.prefer_version_error();
  return false;
}

/** Reads the header, unless the file is too short to have one. */
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
