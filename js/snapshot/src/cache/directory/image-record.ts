import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ENTRY_LENGTH, entryPosition } from "../../decode/journal-layout.js";
import { SnapshotError } from "../../error.js";
import type { Frames } from "../../format/frames.js";
import type { Manifest, SnapshotInfo } from "../../format/manifest.js";
import { reading } from "../../local/open-file.js";
import { isUnfit } from "../../local/private-file.js";
import { READ_FLAGS, readWholeFile } from "./read-files.js";

/**
 * The header of an image's record. The record is this header as a line of JSON, then the offset, length and BLAKE3
 * digest of each piece of data, then the SHA-256 digest of all that.
 */
export interface ImageRecord {
  readonly info: SnapshotInfo;
  /** Where the image came from, without secrets. */
  readonly source: string;
}

/** A piece of data in an image. Everything between pieces is zeros. */
export interface Piece {
  /** Its position in the image, in bytes. */
  readonly offset: number;
  readonly length: number;
  /** The BLAKE3 digest of its data. */
  readonly digest: Uint8Array;
}

const KIND = "hedgerow image 1";

/** The name of the journal in messages. */
const JOURNAL = "the restore journal";

/** The maximum length of the header, in bytes. */
const MAX_LINE = 4096;

/** The maximum length of a source, in characters. */
const MAX_SOURCE = 512;

/** The length of an encoded piece: its offset, length and digest. */
const PIECE_LENGTH = 8 + 4 + ENTRY_LENGTH;

const SUM_LENGTH = 32;

/** The limits of the snapshot format, from docs/vhs.md: frames, bytes of a piece, bytes of an image. */
const MAX_FRAMES = 2 ** 20;
const [MIN_PIECE_SIZE, MAX_PIECE_SIZE] = [2 ** 12, 2 ** 24];
const MAX_IMAGE_SIZE = 2 ** 44;

/** The maximum length of a record, in bytes. */
const MAX_LENGTH = MAX_LINE + MAX_FRAMES * PIECE_LENGTH + SUM_LENGTH;

/** The numeric fields of the header and the maximum of each. */
const MAXIMA = [
  ["imageSize", MAX_IMAGE_SIZE],
  ["dataSize", MAX_IMAGE_SIZE],
  ["holeSize", MAX_IMAGE_SIZE],
  ["fileSize", Number.MAX_SAFE_INTEGER],
  ["pieceSize", MAX_PIECE_SIZE],
  ["dataFrames", MAX_FRAMES],
  ["holeFrames", MAX_FRAMES],
] as const satisfies readonly (readonly [keyof SnapshotInfo, number])[];

/** Returns the length of the record that an image will have, in bytes. */
export function recordLength({ info }: Manifest, source: string): number {
  return lineOf(info, source).length + info.dataFrames * PIECE_LENGTH + SUM_LENGTH;
}

/** Makes the record of an image that was just restored, with the digests in its journal. */
export async function makeRecord(
  { info, frames }: Manifest,
  source: string,
  journal: FileHandle,
): Promise<Buffer> {
  // The journal ends with the last frame of data.
  let count = frames.count;
  while (count > 0 && frames.isHole(count - 1)) count -= 1;
  const entries = Buffer.alloc(count * ENTRY_LENGTH);
  const read = journal.read(entries, 0, entries.length, entryPosition(0));
  const { bytesRead } = await reading("ERR_CACHE", JOURNAL, read);
  if (bytesRead < entries.length) {
    const message = `${JOURNAL}: expected ${entries.length} bytes, found ${bytesRead}`;
    throw new SnapshotError("ERR_CACHE", message);
  }
  const parts = [lineOf(info, source), piecesOf(frames, entries)];
  return Buffer.concat([...parts, sumOf(parts)]);
}

function lineOf(info: SnapshotInfo, source: string): Buffer {
  const line = { kind: KIND, info, source: source.slice(0, MAX_SOURCE) };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

function piecesOf(frames: Frames, entries: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let index = 0; index < frames.count; index += 1) {
    if (frames.isHole(index)) continue;
    const piece = Buffer.alloc(PIECE_LENGTH);
    piece.writeBigUInt64LE(BigInt(frames.imageOffset(index)), 0);
    piece.writeUInt32LE(frames.rawLength(index), 8);
    entries.copy(piece, 12, index * ENTRY_LENGTH, (index + 1) * ENTRY_LENGTH);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function sumOf(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * Reads the header of an image's record. Returns undefined if the record is missing or invalid.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export function readRecord(path: string, digest: string): ImageRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ_FLAGS);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || isUnfit(cause)) return undefined;
    // The record may be intact although it cannot be opened now.
    throw new SnapshotError("ERR_CACHE", `cannot open ${path}: ${message}`, { cause });
  }
  try {
    const bytes = Buffer.alloc(MAX_LINE);
    return parseLine(bytes.subarray(0, readSync(fd, bytes, 0, MAX_LINE, 0)), digest);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function parseLine(bytes: Buffer, digest: string): ImageRecord | undefined {
  const line = JSON.parse(bytes.toString("utf8", 0, bytes.indexOf("\n")));
  const { kind, info, source } = line as { kind: unknown } & ImageRecord;
  if (kind !== KIND || info.digest !== digest || typeof source !== "string") return undefined;
  const isWithin = MAXIMA.every(([name, max]) => {
    return Number.isInteger(info[name]) && info[name] >= 0 && info[name] <= max;
  });
  return isWithin && source.length <= MAX_SOURCE ? { info, source } : undefined;
}

/**
 * Reads the pieces in an image's record. Returns undefined if the record is missing or damaged.
 *
 * @param info the snapshot, from the header
 */
export async function readPieces(
  path: string,
  info: SnapshotInfo,
): Promise<readonly Piece[] | undefined> {
  const bytes = await reading("ERR_CACHE", path, readWholeFile(path, MAX_LENGTH));
  if (bytes === undefined) return undefined;
  const { pieceSize } = info;
  if (pieceSize < MIN_PIECE_SIZE || (pieceSize & (pieceSize - 1)) !== 0) return undefined;
  const end = bytes.length - SUM_LENGTH;
  const start = bytes.indexOf("\n") + 1;
  if (end < start || (end - start) % PIECE_LENGTH !== 0) return undefined;
  if (!sumOf([bytes.subarray(0, end)]).equals(bytes.subarray(end))) return undefined;
  const pieces: Piece[] = [];
  let position = 0n;
  for (let at = start; at < end; at += PIECE_LENGTH) {
    const [offset, length] = [bytes.readBigUInt64LE(at), bytes.readUInt32LE(at + 8)];
    // Pieces are in order, do not overlap, and lie within the image.
    if (offset < position || length > pieceSize) return undefined;
    position = offset + BigInt(length);
    if (position > info.imageSize) return undefined;
    const digest = bytes.subarray(at + 12, at + PIECE_LENGTH);
    pieces.push({ offset: Number(offset), length, digest });
  }
  return pieces;
}
