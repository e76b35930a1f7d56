import type { Frames } from "../format/frames.js";
import type { ImageSegment } from "../format/image-segments.js";
import { MIN_PART_SIZE } from "../s3/limits.js";
import type { CopyableObject } from "./copyable-object.js";
import { type DataPiece, isCutWhole } from "./data-pieces.js";

/** The minimum length of a copied range, in bytes. Shorter ones are compressed again, which takes fewer requests. */
const MIN_COPY = 2 ** 20;

/** The largest number of copies: each may need two more parts than its bytes do. */
const MAX_COPIES = 1_000;

/** A piece of the image with data, and whether its frames are copied. All others are compressed again. */
export interface PlannedPiece extends DataPiece {
  readonly isCopied: boolean;
}

/** Consecutive pieces whose frames, with the holes between them, are one range of an object. */
interface Run {
  readonly object: CopyableObject;
  readonly first: number;
  end: number;
  /** The number of bytes of their frames. */
  bytes: number;
}

/** The frames of a snapshot, and where they can be copied from. */
export interface Copyable {
  readonly frames: Frames;
  /** Returns the object to copy a frame from, or undefined if it has to be compressed again. */
  objectOf(frame: number): CopyableObject | undefined;
  /** Returns whether an object begins with the header of the new snapshot. */
  hasHeader(object: CopyableObject): boolean;
}

/** Decides which pieces are copied. */
export function planCopies(pieces: readonly DataPiece[], from: Copyable): PlannedPiece[] {
  const runs = runsOf(pieces, from);
  const isLong = ({ bytes }: Run) => bytes >= MIN_COPY;
  const longest = runs.filter(isLong).sort((a, b) => b.bytes - a.bytes);
  const copied = new Set<number>();
  for (const { first, end } of longest.slice(0, MAX_COPIES))
    for (let at = first; at < end; at += 1) copied.add(at);
  // The first part must be large enough: either a long range, or bytes that are.
  for (let at = 0, bytes = 0; !startsWithPart(runs[0], from) && at < pieces.length; at += 1) {
    if (bytes >= MIN_PART_SIZE) break;
    if (copied.delete(at)) bytes += compressedLength(pieces[at] as DataPiece, from.frames);
  }
  return pieces.map((piece, at) => ({ ...piece, isCopied: copied.has(at) }));
}

function startsWithPart(run: Run | undefined, { hasHeader }: Copyable): boolean {
  return run?.first === 0 && run.bytes >= MIN_PART_SIZE && hasHeader(run.object);
}

function runsOf(pieces: readonly DataPiece[], from: Copyable): Run[] {
  const runs: Run[] = [];
  for (const [at, piece] of pieces.entries()) {
    const object = objectOfPiece(piece, from);
    if (object === undefined) continue;
    const bytes = compressedLength(piece, from.frames);
    const [last, segment] = [runs.at(-1), piece.segments[0]];
    const previous = last?.end === at ? pieces[at - 1]?.segments.at(-1) : undefined;
    if (last?.object === object && isRange(previous, segment, object, from)) {
      last.end += 1;
      last.bytes += bytes;
    } else runs.push({ object, first: at, end: at + 1, bytes });
  }
  return runs;
}

/** Returns the object from which all frames of a piece can be copied, as one range. */
function objectOfPiece(piece: DataPiece, from: Copyable): CopyableObject | undefined {
  const { segments } = piece;
  const [object, ...others] = segments.map(({ frame }) => from.objectOf(frame));
  if (object === undefined || others.some((other) => other !== object)) return undefined;
  // The last frame of a shorter image may end with zeros that now belong to a hole.
  const isInside = piece.offset + piece.length <= object.imageSize;
  if (!isInside || !isCutWhole(piece, from.frames)) return undefined;
  const isOne = segments.slice(1).every((segment, at) => {
    return isRange(segments[at], segment, object, from);
  });
  return isOne ? object : undefined;
}

/** Returns whether two frames, with the hole between them, are a range of an object. */
function isRange(
  one: ImageSegment | undefined,
  next: ImageSegment | undefined,
  object: CopyableObject,
  { frames }: Copyable,
): boolean {
  if (one === undefined || next === undefined) return false;
  const end = frames.fileOffset(one.frame) + frames.compressedLength(one.frame);
  const hole = next.imageOffset - (one.imageOffset + one.length);
  return object.hasHole(end, frames.fileOffset(next.frame), hole);
}

function compressedLength({ segments }: DataPiece, frames: Frames): number {
  return segments.reduce((sum, { frame }) => sum + frames.compressedLength(frame), 0);
}
