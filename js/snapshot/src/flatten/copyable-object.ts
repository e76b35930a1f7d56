import type { Frames } from "../format/frames.js";
import { MAX_HOLE_LENGTH } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import type { CopySource } from "../s3/content.js";

/** An object of S3 with frames, from which the service can copy. */
export class CopyableObject {
  readonly #frames: Frames;

  constructor(
    readonly source: CopySource,
    private readonly manifest: Manifest,
  ) {
    this.#frames = manifest.frames;
  }

  /** The size of its image, in bytes. */
  get imageSize(): number {
    return this.manifest.info.imageSize;
  }

  /** The level of its own frames, if it is a delta: full snapshots do not record theirs. */
  get level(): number | undefined {
    return this.manifest.info.delta?.level;
  }

  /** Returns whether the object itself has this frame. @param index the number of the frame in `frames` */
  has(frames: Frames, index: number): boolean {
    const own = this.#firstFrom(frames.fileOffset(index));
    return (
      own !== undefined &&
      !this.#frames.isHole(own) &&
      this.#frames.fileOffset(own) === frames.fileOffset(index) &&
      this.#frames.compressedLength(own) === frames.compressedLength(index) &&
      Buffer.compare(this.#frames.digest(own), frames.digest(index)) === 0
    );
  }

  /** Returns whether it begins with the header of a full snapshot of an image. */
  hasHeader(imageSize: number, pieceSize: number): boolean {
    const { info } = this.manifest;
    const isSame = info.imageSize === imageSize && info.pieceSize === pieceSize;
    return isSame && info.delta === undefined;
  }

  /** Returns whether bytes of the file, [start, end), are nothing but the frames of a hole of `length` zeros. */
  hasHole(start: number, end: number, length: number): boolean {
    if (start === end) return length === 0;
    if (this.manifest.info.delta !== undefined) return false;
    const first = this.#firstFrom(start);
    if (first === undefined || this.#frames.fileOffset(first) !== start) return false;
    let [at, rest] = [start, length];
    for (let index = first; at < end && index < this.#frames.count; index += 1) {
      if (!this.#frames.isHole(index)) return false;
      if (this.#frames.rawLength(index) !== Math.min(rest, MAX_HOLE_LENGTH)) return false;
      at += this.#frames.compressedLength(index);
      rest -= this.#frames.rawLength(index);
    }
    return at === end && rest === 0;
  }

  /** Returns the first of its own frames that begins at an offset or after it. */
  #firstFrom(offset: number): number | undefined {
    let [first, end] = [0, this.#frames.count];
    while (first < end) {
      const middle = (first + end) >>> 1;
      const isBefore =
        this.#frames.object(middle) === 0 && this.#frames.fileOffset(middle) < offset;
      if (isBefore) first = middle + 1;
      else end = middle;
    }
    return first < this.#frames.count && this.#frames.object(first) === 0 ? first : undefined;
  }
}
