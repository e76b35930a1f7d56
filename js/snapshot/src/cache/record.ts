import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ENTRY_LENGTH, entryPosition } from "../decode/frame-sink.js";
import { SnapshotError } from "../error.js";
import { MAX_IMAGE_SIZE } from "../format/limits.js";
import { type Manifest, readManifestIn, type SnapshotInfo } from "../format/manifest.js";
import { READ_FLAGS, reading, readWholeFile } from "../local/open-file.js";
import { isUnfit } from "../local/private-file.js";

/**
 * The header of an image's record. The record is this header as a line of JSON, then the BLAKE3 digest of what each
 * frame of data holds of the image, then the tail of the snapshot, then the SHA-256 digest of all that.
 */
export interface ImageRecord {
  readonly info: SnapshotInfo;
  /** Where the image came from, without secrets. */
  readonly source: string;
}

/** What the image of a record consists of. */
export interface ImageContent {
  readonly manifest: Manifest;
  /** Returns the BLAKE3 digest of the bytes of the image in a frame: its segments, one after the other. */
  digest(frame: number): Uint8Array;
}

const KIND = "hedgerow image 2";

/** The name of the journal in messages. */
const JOURNAL = "the restore journal";

/** The maximum length of the header, in bytes: most of it are references of a delta. */
const MAX_LINE = 2 ** 15;

/** The maximum length of a source, in characters. */
const MAX_SOURCE = 512;

const SUM_LENGTH = 32;

/** Limits of the snapshot format, from docs/vhs.md: frames, and bytes of a piece. */
const MAX_FRAMES = 2 ** 20;
const MAX_PIECE_SIZE = 2 ** 24;

/** The maximum length of a record, in bytes: the longest tail is that of a delta. */
const MAX_LENGTH = 2 ** 28;

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
export function recordLength({ info, tail }: Manifest, source: string): number {
  return lineOf(info, source).length + info.dataFrames * ENTRY_LENGTH + tail.length + SUM_LENGTH;
}

/** Makes the record of an image that was just restored, with the digests in its journal. */
export async function makeRecord(
  { info, frames, tail }: Manifest,
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
  const digests: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    if (!frames.isHole(index)) {
      digests.push(entries.subarray(index * ENTRY_LENGTH, (index + 1) * ENTRY_LENGTH));
    }
  }
  const parts = [lineOf(info, source), ...digests, tail];
  return Buffer.concat([...parts, sumOf(parts)]);
}

function lineOf(info: SnapshotInfo, source: string): Buffer {
  const line = { kind: KIND, info, source: source.slice(0, MAX_SOURCE) };
  return Buffer.from(`${JSON.stringify(line)}\n`);
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
    const bytes = Buffer.allocUnsafe(MAX_LINE);
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
 * Reads what an image consists of from its record. Returns undefined if the record is missing or damaged.
 *
 * @param info the snapshot, from the header
 */
export async function readContent(
  path: string,
  info: SnapshotInfo,
): Promise<ImageContent | undefined> {
  const bytes = await reading("ERR_CACHE", path, readWholeFile(path, MAX_LENGTH));
  if (bytes === undefined) return undefined;
  const end = bytes.length - SUM_LENGTH;
  const start = bytes.indexOf("\n") + 1;
  const tailStart = start + info.dataFrames * ENTRY_LENGTH;
  if (end < tailStart) return undefined;
  if (!sumOf([bytes.subarray(0, end)]).equals(bytes.subarray(end))) return undefined;
  const tail = bytes.subarray(tailStart, end);
  const manifest = await manifestIn(path, tail, info);
  if (manifest === undefined) return undefined;
  const { frames } = manifest;
  // Frames of holes have no digest.
  const positions = new Uint32Array(frames.count);
  let position = start;
  for (let frame = 0; frame < frames.count; frame += 1) {
    positions[frame] = position;
    if (!frames.isHole(frame)) position += ENTRY_LENGTH;
  }
  return {
    manifest,
    digest: (frame) => {
      const at = positions[frame] as number;
      return bytes.subarray(at, at + ENTRY_LENGTH);
    },
  };
}

/** Parses the tail of a snapshot. Returns undefined if it is not that of `info`. */
async function manifestIn(
  name: string,
  tail: Uint8Array,
  info: SnapshotInfo,
): Promise<Manifest | undefined> {
  const manifest = await readManifestIn(name, tail, info.fileSize);
  const isSame =
    manifest?.info.digest === info.digest &&
    manifest.info.dataFrames === info.dataFrames &&
    manifest.tail.length === tail.length;
  return isSame ? manifest : undefined;
}
