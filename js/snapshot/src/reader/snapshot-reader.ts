import { unlessAborted } from "../abort.js";
import {
  type Checks,
  checkInteger,
  checkOptions,
  checkPinned,
  DIGEST,
  FUNCTION,
  SIGNAL,
} from "../check.js";
import { SnapshotError } from "../error.js";
import { type Frames, nearFrames, type Segment } from "../format/frames.js";
import { hex, readManifest, type SnapshotInfo } from "../format/manifest.js";
import { Decoder } from "./decoder.js";
import { FrameFiles, openSource, type ReaderSource } from "./reader-source.js";

/** Options of {@link SnapshotReader.read}. */
export interface ReaderReadOptions {
  /** Aborts the call: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link SnapshotReader.verify}. */
export interface VerifyReaderOptions extends ReaderReadOptions {
  /**
   * Called after each frame with the number of frames that are verified, of {@link SnapshotReader.frameCount}. An
   * error that it throws ends the verification.
   */
  readonly onFrame?: ((verified: number) => void) | undefined;
}

/** Options of {@link SnapshotReader.open}. */
export interface ReaderOptions extends ReaderReadOptions {
  /** Identity that the snapshot must have, as 64 hexadecimal digits. Default: any snapshot is accepted. */
  readonly digest?: string | undefined;
  /**
   * Returns a base object of a delta by its identity. Its frames are verified, so it need not be trusted. Default,
   * or if it returns undefined: the reference in the delta, if the delta has a URL.
   */
  readonly resolve?:
    | ((digest: string) => ReaderSource | undefined | Promise<ReaderSource | undefined>)
    | undefined;
  /** Sends the requests, for example with credentials. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

const READ_CHECKS: Checks<ReaderReadOptions> = { signal: SIGNAL };

const VERIFY_CHECKS: Checks<VerifyReaderOptions> = { ...READ_CHECKS, onFrame: FUNCTION };

const OPEN_CHECKS: Checks<ReaderOptions> = {
  ...READ_CHECKS,
  digest: DIGEST,
  resolve: FUNCTION,
  fetch: FUNCTION,
};

/** The maximum length of adjacent frames that are read at once, in bytes. A longer frame is read alone. */
const MAX_RANGE = 2 ** 22;

/** A frame of a snapshot. */
export interface FrameInfo {
  /** Whether the frame is a hole, which has no segments. */
  readonly isHole: boolean;
  /** The file that holds it: 0 is the snapshot itself, 1 the first of the `objects` of a delta. */
  readonly object: number;
  /** Its offset in that file, in bytes. */
  readonly offset: number;
  /** Its length in that file, in bytes. */
  readonly compressedLength: number;
  /** The length of its data, in bytes. */
  readonly length: number;
  /** The BLAKE3 digest of its bytes in the file, as 64 hexadecimal digits. */
  readonly digest: string;
  /** The parts of the image that use it. */
  readonly segments: readonly Segment[];
}

/**
 * Reads a snapshot or delta at any offset, without restoring it: from a file that a user chose, or from a server by
 * range requests. Fetches only the frames that are asked for, adjacent ones in one request, checks each against its
 * digest, and keeps none. Runs in the thread that calls it: in a browser, best in a worker.
 *
 * A server of another origin must allow that by CORS; no field needs to be exposed. Requests are not retried.
 *
 * @example
 * import { SnapshotReader } from "@hedgerow/snapshot/reader";
 *
 * const snapshot = await SnapshotReader.open("https://disks.example/debian.vhs");
 * const superblock = await snapshot.read(1024, 1024);
 * await snapshot.verify();
 */
export class SnapshotReader {
  /** The properties of the snapshot. */
  readonly info: SnapshotInfo;
  readonly #frames: Frames;
  readonly #files: FrameFiles;
  /** The numbers of all segments in the order of the image, and the frame of each. */
  readonly #order: Uint32Array;
  readonly #frameOf: Uint32Array;

  private constructor(info: SnapshotInfo, frames: Frames, files: FrameFiles) {
    this.info = info;
    this.#frames = frames;
    this.#files = files;
    this.#order = frames.segmentsInOrder();
    this.#frameOf = frames.framesOfSegments();
  }

  /**
   * Reads and verifies the header and the manifest of a snapshot: two requests, whatever its size. There is one more if
   * it has more than 1,200 frames, and one if the server does not show `Content-Range`.
   *
   * @param source a `File` or `Blob`, a URL of `https:` or `http:`, or an object with `name`, `size` and `read`
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`,
   *   `ERR_ARGUMENT`
   */
  static async open(source: ReaderSource, options: ReaderOptions = {}): Promise<SnapshotReader> {
    const { digest, resolve, signal, ...given } = checkOptions(options, OPEN_CHECKS);
    const send: typeof fetch = given.fetch ?? ((...args) => globalThis.fetch(...args));
    const open = async () => {
      const opened = await openSource("source", source, send, signal);
      const { name, size } = opened;
      const read = (position: number, length: number) => opened.read(position, length, signal);
      const { info, frames } = await readManifest({ name, size, read }, true);
      checkPinned(name, digest, info.digest);
      return new SnapshotReader(info, frames, new FrameFiles(opened, info.delta, resolve, send));
    };
    return unlessAborted(open(), signal);
  }

  /** The number of frames, including holes. */
  get frameCount(): number {
    return this.#frames.count;
  }

  /** Returns a frame by its number, from 0. @throws {SnapshotError} `ERR_ARGUMENT` if there is none */
  frame(index: number): FrameInfo {
    checkInteger("index", index, 0, this.frameCount - 1);
    const frames = this.#frames;
    return {
      isHole: frames.isHole(index),
      object: frames.object(index),
      offset: frames.fileOffset(index),
      compressedLength: frames.compressedLength(index),
      length: frames.rawLength(index),
      digest: hex(frames.digest(index)),
      segments: frames.segments(index),
    };
  }

  /**
   * Returns `length` bytes of the image at `offset`, which must be inside of it.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`,
   *   `ERR_ARGUMENT`
   */
  async read(offset: number, length: number, options: ReaderReadOptions = {}): Promise<Uint8Array> {
    const { signal } = checkOptions(options, READ_CHECKS);
    checkInteger("offset", offset, 0, this.info.imageSize);
    checkInteger("length", length, 0, this.info.imageSize - offset);
    const out = zeros(length);
    const end = offset + length;
    const numbers = this.#segmentsIn(offset, end);
    const wanted = new Set(Array.from(numbers, (number) => this.#frameOf[number] as number));
    await this.#decode(wanted, false, signal, (frame, data) => {
      for (const segment of this.#frames.segments(frame)) {
        const from = Math.max(segment.imageOffset, offset);
        const to = Math.min(segment.imageOffset + segment.length, end);
        if (from >= to) continue;
        const shift = segment.frameOffset - segment.imageOffset;
        out.set(data.subarray(from + shift, to + shift), from - offset);
      }
    });
    return out;
  }

  /**
   * Verifies every byte of the snapshot, as `verifySnapshot` does: the digest of each frame, that it decodes to what
   * the manifest says, and the frames of holes. Header and manifest were verified when it was opened.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`,
   *   `ERR_ARGUMENT`
   */
  async verify(options: VerifyReaderOptions = {}): Promise<void> {
    const { signal, onFrame } = checkOptions(options, VERIFY_CHECKS);
    let verified = 0;
    await this.#decode(Array(this.frameCount).keys(), true, signal, () => {
      verified += 1;
      onFrame?.(verified);
    });
  }

  /** Returns the numbers of the segments that overlap [start, end) of the image, in order. */
  #segmentsIn(start: number, end: number): Uint32Array {
    const frames = this.#frames;
    const endOf = (number: number) => frames.segmentStart(number) + frames.segmentLength(number);
    const first = this.#countWhile((number) => endOf(number) <= start);
    const last = this.#countWhile((number) => frames.segmentStart(number) < end);
    return this.#order.subarray(first, start < end ? last : first);
  }

  /** Returns how many segments meet a condition. They must come before all others. */
  #countWhile(isMet: (number: number) => boolean): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isMet(this.#order[middle] as number)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Reads frames, and calls `use` with the data of each, which is valid during the call. */
  #decode(
    wanted: Iterable<number>,
    isStrict: boolean,
    signal: AbortSignal | undefined,
    use: (frame: number, data: Uint8Array) => void,
  ): Promise<void> {
    const frames = this.#frames;
    return Decoder.with(frames, this.info.pieceSize, isStrict, async (decoder) => {
      signal?.throwIfAborted();
      for (const range of nearFrames(frames, wanted, MAX_RANGE, 0)) {
        const { object, offset, length } = range;
        const read = async () => {
          const file = await this.#files.at(object);
          return { name: file.name, bytes: await file.read(offset, length, signal) };
        };
        const { name, bytes } = await unlessAborted(read(), signal);
        for (const frame of range.frames) {
          signal?.throwIfAborted();
          use(
            frame,
            decoder.decode(frame, bytes.subarray(frames.fileOffset(frame) - offset), name),
          );
        }
      }
      signal?.throwIfAborted();
    });
  }
}

/** @throws {SnapshotError} `ERR_ARGUMENT` if there is no memory for so many bytes */
function zeros(length: number): Uint8Array {
  try {
    return new Uint8Array(length);
  } catch {
    const message = `length: expected as many bytes as memory can hold, found ${length}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
}
