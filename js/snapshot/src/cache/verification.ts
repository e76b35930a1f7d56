/** Reads images of a cache, compares them with their digests, and removes damaged ones. */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { FrameDecoder, initSync } from "../../wasm/decode.js";
import { pause } from "../abort.js";
import { SnapshotError } from "../error.js";
import { difference } from "../format/byte-ranges.js";
import type { Frames } from "../format/frames.js";
import { dataExtents } from "../local/extents.js";
import { flock } from "../local/locks.js";
import { openFile, reading } from "../local/open-file.js";
import { openPrivate } from "../local/private-file.js";
import { readFully } from "../local/read-write.js";
import { isReadOnlyError } from "../local/system-errors.js";
import { compiledDecode } from "../wasm/compiled-decode.js";
import { instantiate } from "../wasm/module.js";
import { type OpenDirectory, remove } from "./files.js";
import type { ImageStore } from "./image-store.js";
import type { Lease, Leases } from "./leases.js";
import { type ImageContent, readContent } from "./record.js";
import type { Verified } from "./statistics.js";

/** The pause between two rounds of background verification, in milliseconds. */
const REST = 60_000;

/** Options of `ImageCache.verify`. */
export interface VerifyOptions {
  /** Aborts the verification: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum read rate, in bytes per second. At least 1. Default: unlimited. */
  readonly bytesPerSecond?: number | undefined;
}

/** Reads images and removes damaged ones, once or in the background. */
export class Verifier {
  readonly #stopping = new AbortController();
  #background: Promise<void> = Promise.resolve();

  constructor(
    private readonly directory: OpenDirectory,
    private readonly leases: Leases,
    private readonly store: ImageStore,
  ) {}

  /** Verifies all images once. @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal */
  verify({ signal, bytesPerSecond }: VerifyOptions): Promise<Verified> {
    const wait = (milliseconds: number) => pause(milliseconds, signal);
    return this.#verifyAll({ signal, bytesPerSecond, pause: wait });
  }

  /** Verifies all images over and over while no other process does. Does not keep the process alive. */
  start(bytesPerSecond: number): void {
    const { signal } = this.#stopping;
    const wait = (milliseconds: number) => sleep(milliseconds, undefined, { ref: false, signal });
    this.#background = this.#repeat({ signal, bytesPerSecond, pause: wait }).catch(() => {});
  }

  /** Stops background verification. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#background;
  }

  async #repeat(pace: ReadPace): Promise<void> {
    const path = this.directory.layout.verifier;
    const file = await openPrivate(path, path, remove);
    try {
      for (;;) {
        // A round that fails is repeated after the pause.
        if (flock(this.directory.libc, file.fd, "exclusive"))
          await this.#verifyAll(pace).catch(() => {});
        await pace.pause(REST);
      }
    } finally {
      await file.close();
    }
  }

  async #verifyAll(pace: ReadPace): Promise<Verified> {
    const { images } = await this.store.inventory(pace.signal);
    const damaged: string[] = [];
    let good = 0;
    for (const { digest, isWhole } of images) {
      pace.signal?.throwIfAborted();
      const isGood = isWhole ? await this.#verifyImage(digest, pace) : undefined;
      if (isGood) good += 1;
      else if (isGood === false) damaged.push(digest);
    }
    return { good, damaged };
  }

  /** Returns whether an image is intact, or undefined if it was removed meanwhile. */
  async #verifyImage(digest: string, pace: ReadPace): Promise<boolean | undefined> {
    const lease = this.leases.take(digest, false);
    if (lease === undefined) return damagedAfter(this.store.discardUnfit(digest));
    if (lease === "damaged") return damagedAfter(this.store.discardDamaged(digest));
    const opening = openFile("ERR_CACHE", lease.path, (image, stats) => ({ image, stats }));
    try {
      // Reading takes long, and the open file stays readable: the lease would only prevent eviction.
      const { image, stats } = await opening.finally(() => this.store.release(lease));
      const damage = await findDamage(lease, image.fd, this.directory.layout.record(digest), pace);
      if (damage === undefined) return true;
      const isSame = () =>
        this.store.has(digest) &&
        statSync(lease.path, { throwIfNoEntry: false })?.ino === Number(stats.ino);
      return await damagedAfter(this.store.discard(digest, damage, isSame));
    } finally {
      await opening.then(
        ({ image }) => image.close(),
        () => {},
      );
    }
  }
}

/** Returns false if an image was removed, or stays because its cache is read-only; undefined if it was replaced meanwhile. */
async function damagedAfter(removal: Promise<boolean>): Promise<false | undefined> {
  try {
    return (await removal) ? false : undefined;
  } catch (error) {
    if (isReadOnlyError(error)) return false;
    throw error;
  }
}

/** The zeros with which holes are compared, a block of this length at a time. */
const ZEROS = Buffer.alloc(2 ** 20);

/** The maximum delay of a timer, in milliseconds: 24 days. */
const MAX_DELAY = 2 ** 31 - 1;

/** How images are read. */
interface ReadPace {
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
async function findDamage(
  { path, info }: Lease,
  fd: number,
  record: string,
  pace: ReadPace,
): Promise<string | undefined> {
  const content = await readContent(record, info);
  if (content === undefined) return "its record is damaged";
  const throttle = new Throttle(pace);
  const fill = async (bytes: Uint8Array, position: number) => {
    const count = await reading("ERR_CACHE", path, readFully(fd, bytes, position));
    if (count < bytes.length) return false;
    await throttle.add(bytes.length);
    return true;
  };
  const { frames } = content.manifest;
  const wrong = await findWrongFrame(content, fill);
  if (wrong !== undefined) {
    const [segment] = frames.segments(wrong);
    return `the data at byte ${segment?.imageOffset} does not match its digest`;
  }
  const extents = (await dataExtents(fd, info.imageSize)) ?? [{ start: 0, end: info.imageSize }];
  for (const { start, end } of difference(extents, frames.extents())) {
    for (let position = start; position < end; position += ZEROS.length) {
      const bytes = Buffer.alloc(Math.min(ZEROS.length, end - position));
      const isRead = await fill(bytes, position);
      const isZero = isRead && bytes.equals(ZEROS.subarray(0, bytes.length));
      if (!isZero) return `the hole at byte ${position} contains data`;
    }
  }
  return undefined;
}

/** Returns the first frame whose data does not match its digest. */
async function findWrongFrame(
  { manifest: { info, frames }, digest }: ImageContent,
  fill: Fill,
): Promise<number | undefined> {
  const digests = await FrameDigests.create(info.pieceSize, fill);
  try {
    for (let frame = 0; frame < frames.count; frame += 1) {
      if (frames.isHole(frame)) continue;
      const found = await digests.of(frames, frame);
      if (!found?.equals(digest(frame))) return frame;
    }
    return undefined;
  } finally {
    digests.free();
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

/** Reads bytes of an image at a position. Returns whether all of them are there. */
export type Fill = (bytes: Uint8Array, position: number) => Promise<boolean>;

/** Computes the digests of the segments of frames in an image, as in a restore journal. */
export class FrameDigests {
  readonly #memory: WebAssembly.Memory;
  readonly #decoder: FrameDecoder;
  readonly #buffer: Buffer;
  readonly #fill: Fill;

  private constructor(
    memory: WebAssembly.Memory,
    decoder: FrameDecoder,
    pieceSize: number,
    fill: Fill,
  ) {
    this.#memory = memory;
    this.#decoder = decoder;
    this.#buffer = Buffer.alloc(pieceSize);
    this.#fill = fill;
  }

  /** Allocates memory for pieces, until {@link free}. @throws {SnapshotError} `ERR_CACHE` */
  static async create(pieceSize: number, fill: Fill): Promise<FrameDigests> {
    const { memory } = instantiate(initSync, await compiledDecode());
    const decoder = FrameDecoder.create(pieceSize, false);
    if (decoder !== undefined) return new FrameDigests(memory, decoder, pieceSize, fill);
    const message = `cannot allocate memory for pieces of ${pieceSize} bytes`;
    throw new SnapshotError("ERR_CACHE", message);
  }

  /**
   * Returns the digest of the segments of a frame in the image, or undefined if the image is too short.
   *
   * @param fill reads the image, if it is another one
   */
  async of(frames: Frames, frame: number, fill = this.#fill): Promise<Buffer | undefined> {
    let length = 0;
    for (const segment of frames.segments(frame)) {
      const bytes = this.#buffer.subarray(length, length + segment.length);
      if (!(await fill(bytes, segment.imageOffset))) return undefined;
      length += segment.length;
    }
    new Uint8Array(this.#memory.buffer).set(this.#buffer.subarray(0, length), this.#decoder.out());
    const start = this.#decoder.out_digest(length);
    return Buffer.from(new Uint8Array(this.#memory.buffer).slice(start, start + 32));
  }

  /** Frees the memory. */
  free(): void {
    this.#decoder.free();
  }
}
