/** The segments of snapshots and deltas in the order of their images, and which of them two images share. */
import type { ByteRange } from "./byte-ranges.js";
import type { Frames, Segment } from "./frames.js";
import type { Manifest } from "./manifest.js";

/** A segment, and its frame. */
export interface ImageSegment extends Segment {
  /** The number of the frame. */
  readonly frame: number;
}

/** The segments of a snapshot or delta, in the order of its image, up to `imageSize`. */
export class ImageSegments {
  readonly frames: Frames;
  readonly #size: number;
  readonly #order: Uint32Array;
  readonly #frameOf: Uint32Array;

  constructor({ frames }: Manifest, imageSize: number) {
    this.frames = frames;
    this.#size = imageSize;
    this.#order = frames.segmentsInOrder();
    this.#frameOf = frames.framesOfSegments();
  }

  *[Symbol.iterator](): Generator<ImageSegment> {
    for (const number of this.#order) {
      const segment = this.frames.segment(number);
      if (segment.imageOffset >= this.#size) return;
      yield { ...segment, frame: this.#frameOf[number] as number };
    }
  }

  /** Returns the ranges of the image that are data. @param isWanted whether to include the data of a frame */
  extents(isWanted: (frame: number) => boolean = () => true): ByteRange[] {
    const extents: { start: number; end: number }[] = [];
    for (const { imageOffset: start, length, frame } of this) {
      if (!isWanted(frame)) continue;
      const previous = extents.at(-1);
      const end = Math.min(start + length, this.#size);
      if (previous?.end === start) previous.end = end;
      else extents.push({ start, end });
    }
    return extents;
  }
}

/** A frame whose blocks are in the image of a base already. */
export interface InheritedFrame {
  /** The number of the frame in the base. */
  readonly base: number;
  /** Whether both images have the same blocks of it. */
  readonly isWhole: boolean;
}

/**
 * Finds the frames of a snapshot whose blocks are all in the image of another one, at the same offsets: a copy of that
 * image needs only the other frames. Both refer to the same files by their identities, and to the same bytes by their
 * digests: an identity in a delta proves nothing.
 */
export function inheritedFrames(wanted: Manifest, base: Manifest): Map<number, InheritedFrame> {
  const inherited = new Map<number, InheritedFrame>();
  if (wanted.info.digest === base.info.digest) {
    for (let frame = 0; frame < wanted.frames.count; frame += 1)
      if (!wanted.frames.isHole(frame)) inherited.set(frame, { base: frame, isWhole: true });
    return inherited;
  }
  const ofBase = framesByOffset(base);
  const identities = identitiesOf(wanted);
  for (let frame = 0; frame < wanted.frames.count; frame += 1) {
    if (wanted.frames.isHole(frame)) continue;
    const offsets = ofBase.get(identities[wanted.frames.object(frame)] ?? "");
    const other = offsets?.get(wanted.frames.fileOffset(frame));
    if (other === undefined) continue;
    if (Buffer.compare(wanted.frames.digest(frame), base.frames.digest(other)) !== 0) continue;
    if (!containsAll(base.frames.segments(other), wanted.frames.segments(frame))) continue;
    const isWhole = base.frames.usedLength(other) === wanted.frames.usedLength(frame);
    inherited.set(frame, { base: other, isWhole });
  }
  return inherited;
}

/** Returns the identities of the files that hold the frames of a snapshot, by the number of the object. */
function identitiesOf({ info }: Manifest): string[] {
  return [info.digest, ...(info.delta?.objects ?? []).map(({ digest }) => digest)];
}

/** Returns the frames of data of each file, by their offsets. */
function framesByOffset(manifest: Manifest): Map<string, Map<number, number>> {
  const { frames } = manifest;
  const files = identitiesOf(manifest).map((identity) => [identity, new Map()] as const);
  for (let frame = 0; frame < frames.count; frame += 1) {
    if (!frames.isHole(frame))
      files[frames.object(frame)]?.[1].set(frames.fileOffset(frame), frame);
  }
  return new Map(files);
}

/** Returns whether other segments contain all segments of a frame. Both lists are in the order of the image. */
function containsAll(wholes: readonly Segment[], parts: readonly Segment[]): boolean {
  let at = 0;
  return parts.every((part) => {
    while (at < wholes.length && endOf(wholes[at] as Segment) <= part.imageOffset) at += 1;
    const whole = wholes[at];
    return whole !== undefined && contains(whole, part);
  });
}

function endOf({ imageOffset, length }: Segment): number {
  return imageOffset + length;
}

/** Returns whether a segment is part of another one, at the same offset in the image. */
function contains(whole: Segment, part: Segment): boolean {
  const isAligned = whole.imageOffset - whole.frameOffset === part.imageOffset - part.frameOffset;
  const isInside =
    part.frameOffset >= whole.frameOffset &&
    part.frameOffset + part.length <= whole.frameOffset + whole.length;
  return isAligned && isInside;
}
