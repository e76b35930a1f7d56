import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ENTRY_LENGTH, entryPosition } from "../../decode/journal-layout.js";
import { SnapshotError } from "../../error.js";
import type { Frames } from "../../format/frames.js";
import type { Manifest, SnapshotInfo } from "../../format/manifest.js";
import { reading } from "../../local/open-file.js";
import { isUnfit } from "../../local/private-file.js";
import { unlessMissing } from "../../local/whole-file.js";

/**
 * What is known of an image: a line of JSON, for each piece of data where it lies and the BLAKE3 digest of
 * it, and the SHA-256 digest of all that.
 */
export interface ImageRecord {
  readonly info: SnapshotInfo;
  /** Where it came from, without what may be secret. */
  readonly source: string;
}

/** A piece of an image that is data. What lies between them is zeros. */
export interface Piece {
  /** Where it lies, in bytes. */
  readonly offset: number;
  readonly length: number;
  /** The BLAKE3 digest of it. */
  readonly digest: Uint8Array;
}

/** Windows has no such flags, and no cache. A pipe is not waited for, and a link not followed. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

const KIND = "hedgerow image 1";

/** What the journal is called in messages. */
const JOURNAL = "the journal of what was restored";

/** The most bytes that the line has. */
const MAX_LINE = 4096;

/** The most characters of the name of where an image came from. */
const MAX_SOURCE = 512;

/** A piece: where it lies, how long it is, and its digest. */
const PIECE_LENGTH = 8 + 4 + ENTRY_LENGTH;

const SUM_LENGTH = 32;

/** The limits of the format, as docs/vhs.md says: frames, bytes of a piece, and bytes of an image. */
const MAX_FRAMES = 2 ** 20;
const [MIN_PIECE_SIZE, MAX_PIECE_SIZE] = [2 ** 12, 2 ** 24];
const MAX_IMAGE_SIZE = 2 ** 44;

/** The most bytes that a record has. */
const MAX_LENGTH = MAX_LINE + MAX_FRAMES * PIECE_LENGTH + SUM_LENGTH;

/** What the line says of the snapshot in numbers, and how much each is at most. */
const NUMBERS = [
  ["imageSize", MAX_IMAGE_SIZE],
  ["dataSize", MAX_IMAGE_SIZE],
  ["holeSize", MAX_IMAGE_SIZE],
  ["fileSize", Number.MAX_SAFE_INTEGER],
  ["pieceSize", MAX_PIECE_SIZE],
  ["dataFrames", MAX_FRAMES],
  ["holeFrames", MAX_FRAMES],
] as const satisfies readonly (readonly [keyof SnapshotInfo, number])[];

/** How long the record of an image will be, in bytes. */
export function recordLength({ info }: Manifest, source: string): number {
  return lineOf(info, source).length + info.dataFrames * PIECE_LENGTH + SUM_LENGTH;
}

/** The record of an image that was just restored, of which the journal has the digests. */
export async function makeRecord(
  { info, frames }: Manifest,
  source: string,
  journal: FileHandle,
): Promise<Buffer> {
  // Holes have no entries, and an image may end with them.
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
 * Reads what the record of an image begins with. Returns undefined if there is none, or it is none.
 *
 * @throws {SnapshotError} `ERR_CACHE`
 */
export function readRecord(path: string, digest: string): ImageRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, FLAGS);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || isUnfit(cause)) return undefined;
    // Of one that cannot be opened now nobody knows that it is damaged.
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
  const isWithin = NUMBERS.every(([name, most]) => {
    return Number.isInteger(info[name]) && info[name] >= 0 && info[name] <= most;
  });
  return isWithin && source.length <= MAX_SOURCE ? { info, source } : undefined;
}

/**
 * Reads all of the record of an image. Returns undefined if there is none, or it is damaged.
 *
 * @param info what its line says
 */
export async function readPieces(
  path: string,
  info: SnapshotInfo,
): Promise<readonly Piece[] | undefined> {
  const bytes = await reading("ERR_CACHE", path, readRecordBytes(path));
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
    // They lie one after the other, in the image.
    if (offset < position || length > pieceSize) return undefined;
    position = offset + BigInt(length);
    if (position > info.imageSize) return undefined;
    const digest = bytes.subarray(at + 12, at + PIECE_LENGTH);
    pieces.push({ offset: Number(offset), length, digest });
  }
  return pieces;
}

/** The bytes of a record, or undefined if there is none that can be one: it is read whole into memory. */
async function readRecordBytes(path: string): Promise<Buffer | undefined> {
  const opening = unlessMissing(open(path, FLAGS));
  const file = await opening.catch((error: unknown) => {
    if (isUnfit(error)) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= MAX_LENGTH ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
