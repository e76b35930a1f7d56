import { initSync, Tail } from "../../wasm/decode.js";
import { SnapshotError } from "../error.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { errorOf, instantiate } from "../wasm/module.js";
import { fileTypeOf, isSnapshot, START_LENGTH } from "./file-type.js";
import { Frames } from "./frames.js";

/** The number of bytes to read first from the end of a snapshot: enough for 1,200 frames. */
export const FIRST_LENGTH = 1 << 16;

/** The length of a digest, in bytes. */
const DIGEST_LENGTH = 32;

/** The field at the very end of a file. */
const FOOTER_MAGIC = "magic number of the footer";

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
  /** The number of frames that are holes. A delta has none: its holes take no space. */
  readonly holeFrames: number;
  /** The properties of a delta. A full snapshot has none. */
  readonly delta?: DeltaInfo | undefined;
}

/** The properties of a delta. */
export interface DeltaInfo {
  /** 1 if the base is a full snapshot, otherwise one more than the depth of the base. */
  readonly depth: number;
  /** The zstd compression level of its own frames. */
  readonly level: number;
  /** The number of bytes of its own frames. */
  readonly ownBytes: number;
  /** The number of bytes of the frames in base objects that it uses. */
  readonly sharedBytes: number;
  /** The other files that hold data of its image. */
  readonly objects: readonly BaseObject[];
}

/** A file, other than the delta itself, that holds data of its image. */
export interface BaseObject {
  /** The identity of the snapshot, or of the delta. */
  readonly digest: string;
  /** The size of the file, in bytes. */
  readonly size: number;
  /** The path of the file relative to the folder of the delta, or `""` if it is somewhere else. */
  readonly reference: string;
  /** The number of bytes of the frames in it that the delta uses. */
  readonly usedBytes: number;
}

/** The manifest of a snapshot: its properties and its frames. */
export interface Manifest {
  readonly info: SnapshotInfo;
  readonly frames: Frames;
  /** The bytes that it was read from: the end of the file. */
  readonly tail: Uint8Array;
}

/**
 * Reads and verifies the manifest of a snapshot.
 *
 * @param isStrict also checks the header, which restoring does not need
 * @throws {SnapshotError} `ERR_SNAPSHOT_FORMAT`, `ERR_SOURCE`
 */
export async function readManifest(file: SnapshotBytes, isStrict = false): Promise<Manifest> {
  const { memory } = instantiate(initSync, await compiledDecode());
  const tail = new Tail(file.size);
  try {
    const bytes = await parse(tail, file, isStrict, memory);
    if (bytes === undefined) {
      const start = await readStart(tail, file, memory);
      tail.prefer_version_error();
      const error = errorOf("ERR_SNAPSHOT_FORMAT", "", tail.take_error(), memory);
      throw invalidFile(file.name, start, error);
    }
    const frames = Frames.copy(
      memory,
      { start: tail.records(), count: tail.frames() },
      { start: tail.segments(), count: tail.segment_count(), starts: tail.segment_starts() },
    );
    return { info: infoOf(tail, frames, file, memory), frames, tail: bytes };
  } finally {
    tail.free();
  }
}

/**
 * Reads and verifies the manifest of a snapshot of which only the manifest is at hand. Returns undefined if it is
 * invalid.
 *
 * @param name in messages
 * @param tail the bytes of {@link Manifest.tail}
 * @param size the size of the snapshot, in bytes
 */
export async function readManifestIn(
  name: string,
  tail: Uint8Array,
  size: number,
): Promise<Manifest | undefined> {
  const read = async (position: number, length: number) => {
    const start = position - (size - tail.length);
    const part = tail.subarray(Math.max(0, start), Math.max(0, start + length));
    // The parser needs nothing before the tail: zeros will do.
    const bytes = new Uint8Array(length);
    bytes.set(part, length - part.length);
    return bytes;
  };
  try {
    return await readManifest({ name, size, read });
  } catch (error) {
    if (error instanceof SnapshotError && error.code === "ERR_SNAPSHOT_FORMAT") return undefined;
    throw error;
  }
}

/** Parses the end of a snapshot, and returns it, or undefined if it is invalid. */
async function parse(
  tail: Tail,
  file: SnapshotBytes,
  isStrict: boolean,
  memory: WebAssembly.Memory,
): Promise<Uint8Array | undefined> {
  const fill = async (length: number) => {
    const bytes = await file.read(file.size - length, length);
    const start = tail.reserve(length);
    if (start === 0) {
      throw new SnapshotError(
        "ERR_WORKER",
        `${file.name}: out of memory for a manifest of ${length} bytes`,
      );
    }
    new Uint8Array(memory.buffer).set(bytes, start);
    return bytes;
  };
  const first = Math.min(file.size, FIRST_LENGTH);
  let bytes = await fill(first);
  const length = tail.length();
  if (length > first) bytes = await fill(length);
  if (isStrict) await readStart(tail, file, memory, tail.header_length());
  return length > 0 && tail.parse(isStrict) ? bytes.slice(-length) : undefined;
}

/**
 * Reads the beginning of a file, with its header unless it is too short to have one. A later version may change
 * everything but the header, and another program writes another one: errors name the version, or the kind of the file.
 */
async function readStart(
  tail: Tail,
  file: SnapshotBytes,
  memory: WebAssembly.Memory,
  maxLength = START_LENGTH,
): Promise<Uint8Array> {
  const start = await file.read(0, Math.min(file.size, maxLength));
  const header = start.subarray(0, tail.header_length());
  if (header.length === tail.header_length()) {
    new Uint8Array(memory.buffer).set(header, tail.header());
  }
  return start;
}

/** Returns the error for an invalid file: first whether it is a snapshot at all. */
function invalidFile(name: string, start: Uint8Array, error: SnapshotError): SnapshotError {
  const { code, field, offset, message } = error;
  const isCut = field === FOOTER_MAGIC;
  let what = isCut ? "the end of the snapshot is missing or damaged: " : "";
  if (!isSnapshot(start)) {
    what = `expected a snapshot, found ${fileTypeOf(start)?.name ?? "another file"}: `;
  }
  return new SnapshotError(code, `${name}: ${what}${message}`, { field, offset });
}

function infoOf(
  tail: Tail,
  frames: Frames,
  file: SnapshotBytes,
  memory: WebAssembly.Memory,
): SnapshotInfo {
  const imageSize = tail.image_size();
  const dataSize = tail.data_size();
  const dataFrames = tail.data_frames();
  return {
    digest: digestAt(memory, tail.identity()),
    imageSize,
    dataSize,
    holeSize: imageSize - dataSize,
    fileSize: file.size,
    pieceSize: tail.piece_size(),
    dataFrames,
    holeFrames: tail.frames() - dataFrames,
    ...(tail.depth() > 0 ? { delta: deltaOf(tail, frames, memory) } : {}),
  };
}

function deltaOf(tail: Tail, frames: Frames, memory: WebAssembly.Memory): DeltaInfo {
  const used = new Array<number>(tail.objects() + 1).fill(0);
  for (let index = 0; index < frames.count; index += 1) {
    const object = frames.object(index);
    used[object] = (used[object] as number) + frames.compressedLength(index);
  }
  const [ownBytes = 0, ...usedBytes] = used;
  return {
    depth: tail.depth(),
    level: tail.level(),
    ownBytes,
    sharedBytes: usedBytes.reduce((sum, bytes) => sum + bytes, 0),
    objects: usedBytes.map((bytes, object) => ({
      digest: digestAt(memory, tail.object_identity(object)),
      size: tail.object_size(object),
      reference: new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        new Uint8Array(
          memory.buffer,
          tail.object_reference(object),
          tail.object_reference_length(object),
        ),
      ),
      usedBytes: bytes,
    })),
  };
}

function digestAt(memory: WebAssembly.Memory, start: number): string {
  return hex(new Uint8Array(memory.buffer, start, DIGEST_LENGTH));
}

/** Returns bytes in hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the URL of a base object. @param reference a valid one, relative to the folder of the delta */
export function referencedUrl(delta: URL, reference: string): URL {
  const url = new URL(delta);
  const path = reference.split("/").map(encodeURIComponent).join("/");
  [url.pathname, url.search, url.hash] = [folderOf(url.pathname) + path, "", ""];
  return url;
}

/** Returns a path up to its last slash. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
