import type { LeasedSnapshot } from "../cache/image-cache.js";
import { checkPinned } from "../check.js";
import { type EncodeJob, encodeImage, type WriteOptions } from "../encode/encode-image.js";
import { checkOf } from "../encode/image-pieces.js";
import { SnapshotError } from "../error.js";
import { type ByteRange, lengthOf } from "../format/byte-ranges.js";
import { MAX_BASE_OBJECTS } from "../format/limits.js";
import type { Manifest, SnapshotInfo } from "../format/manifest.js";
import { ImageSegments } from "../format/segments.js";
import { knownLocation, optionsFor, type Resolve } from "../location/base-objects.js";
import { checkDestination, type Location, referenceTo } from "../location/location.js";
import { openSource } from "../location/source.js";
import { writeSnapshot } from "../location/write-snapshot.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { DeltaEncoder } from "./delta-encoder.js";
import { type Changes, changedPieces } from "./delta-pieces.js";
import { type Changed, type Detection, detectChanges } from "./detect.js";
import type { OpenBase } from "./differing-pieces.js";

/** The minimum share of a base object that must be in use. */
const MIN_LIVE = 0.5;

/** How the changes of a delta were found, and how much it contains. */
export interface DeltaResult {
  /** How the changes were found. */
  readonly detection: Detection;
  /** The number of bytes of the image in blocks of 4 KiB that changed or are stored again. */
  readonly changedBytes: number;
  /** The number of bytes of the image that the base takes from objects that the delta drops. */
  readonly rewrittenBytes: number;
}

/** The result of every function that creates a snapshot. Only deltas have the properties of {@link DeltaResult}. */
export interface CreateInfo extends SnapshotInfo, Partial<DeltaResult> {
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
}

/** A delta to create. */
export interface DeltaJob extends Omit<EncodeJob, "make" | "options"> {
  readonly options: WriteOptions & {
    readonly pieceSize?: number | undefined;
    readonly resolve?: Resolve | undefined;
  };
  readonly destination: Location;
  /** Writes the delta. Default: to its destination. References are relative to the destination in either case. */
  readonly write?: ((making: EncodeJob) => Promise<SnapshotInfo>) | undefined;
  /** Leases a snapshot, if its image is cached. */
  lease(digest: string): Promise<LeasedSnapshot | undefined>;
  readonly delta: Changed & {
    readonly base: Location;
    readonly baseDigest: string | undefined;
  };
  /** The manifest of the base, if it is known, and `changed` is given. */
  readonly manifest?: Manifest | undefined;
}

/**
 * Creates a delta at its destination.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DIGEST`, `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_CACHE`,
 *   `ERR_ARGUMENT`, and what reading the base throws
 */
export async function createDelta(job: DeltaJob): Promise<SnapshotInfo & DeltaResult> {
  const { delta, options } = job;
  const base = await openBase(job);
  try {
    const { info } = base.manifest;
    checkPieceSize(options, info.pieceSize);
    const encoding = { ...job.encoding, pieceSize: info.pieceSize };
    const objects = [];
    for (const object of info.delta?.objects ?? [])
      objects.push(await knownLocation(delta.base, object, options));
    const needed = [delta.base, ...objects];
    await checkDestination(job.destination, needed, options);
    const references = needed.map((found) => (found ? referenceTo(job.destination, found) : ""));
    const rewritten = rewrittenBy(base.manifest, base.segments);
    const detected = await detectChanges({ ...job, encoding, base, rewritten });
    try {
      const written = await writeDelta({ ...job, encoding }, base, references, detected);
      const { detection } = detected;
      return { ...written, detection, rewrittenBytes: lengthOf(rewritten) };
    } finally {
      await detected.file?.close();
    }
  } finally {
    await base.close();
  }
}

/** Opens the base, which the caller closes. If it is pinned and its image is in the cache, this needs no request. */
async function openBase({
  image,
  destination,
  delta: { base: location, baseDigest },
  options,
  lease,
  manifest: known,
}: DeltaJob): Promise<OpenBase> {
  const opened = (manifest: Manifest, data: OpenBase["data"], close: OpenBase["close"]) => {
    return { manifest, data, segments: new ImageSegments(manifest, image.size), close };
  };
  if (known !== undefined) return opened(known, undefined, async () => {});
  const pinned = baseDigest && (await lease(baseDigest.toLowerCase()));
  if (pinned) return opened(pinned.manifest, pinned, () => pinned.release());
  // The headers of the caller are for the server of the destination.
  const reading = optionsFor(destination, location, options);
  const source = await openSource(location, { options: reading, wanted: "info" });
  try {
    const manifest = await source.manifest();
    const { digest } = manifest.info;
    checkPinned(source.name, baseDigest, digest);
    const leased = await lease(digest);
    if (leased === undefined) return opened(manifest, source, () => source.close());
    await source.close();
    return opened(leased.manifest, leased, () => leased.release());
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** @throws {SnapshotError} `ERR_ARGUMENT` if a piece size is given that is not that of the base */
export function checkPieceSize(
  { pieceSize }: { readonly pieceSize?: number | undefined },
  expected: number,
): void {
  if (pieceSize === undefined || pieceSize === expected) return;
  const message = `pieceSize: expected ${expected}, that of the base, found ${pieceSize}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns the ranges of the image whose data is in objects that the delta drops. */
export function rewrittenBy(manifest: Manifest, segments: ImageSegments): ByteRange[] {
  const dropped = droppedObjects(manifest, segments);
  return segments.extents((frame) => dropped.has(segments.frames.object(frame)));
}

/**
 * Returns the numbers of the objects that a delta against a base drops, and stores their data again: objects of
 * which less than half is in use, and if there are too many, the ones with the fewest bytes in use.
 */
function droppedObjects({ info }: Manifest, segments: ImageSegments): Set<number> {
  const { live, own } = liveBytes(segments);
  // Only frames count as the size of the base: its manifest may be larger than these.
  const sizes = [own, ...(info.delta?.objects ?? []).map(({ size }) => size)];
  const byLive = [...live].sort(([, a], [, b]) => b - a);
  const isKept = ([object, bytes]: readonly [number, number], rank: number) =>
    rank < MAX_BASE_OBJECTS && bytes >= MIN_LIVE * (sizes[object] ?? 0);
  return new Set(byLive.filter((one, rank) => !isKept(one, rank)).map(([object]) => object));
}

/** Returns the bytes of each object that are in use, and the number of bytes of frames of the base itself. */
function liveBytes(segments: ImageSegments) {
  const { frames } = segments;
  const live = new Map<number, number>();
  for (const { frame, length } of segments) {
    const object = frames.object(frame);
    const bytes = (frames.compressedLength(frame) * length) / frames.rawLength(frame);
    live.set(object, (live.get(object) ?? 0) + bytes);
  }
  let own = 0;
  for (let frame = 0; frame < frames.count; frame += 1) {
    const isOwn = frames.object(frame) === 0 && !frames.isHole(frame);
    if (isOwn) own += frames.compressedLength(frame);
  }
  return { live, own };
}

async function writeDelta(
  job: DeltaJob,
  { manifest }: OpenBase,
  references: readonly string[],
  changes: Changes,
): Promise<SnapshotInfo & Pick<DeltaResult, "changedBytes">> {
  const { image, encoding, options, destination } = job;
  const write = job.write ?? ((making: EncodeJob) => writeSnapshot(destination, making));
  const module = await compiledEncode();
  let changedBytes = 0;
  const info = await write({
    ...job,
    async make(sink) {
      const pieces = changedPieces(module, image, encoding, changes, await checkOf(options));
      const encoder = new DeltaEncoder(module, image, encoding, manifest, references);
      await encodeImage(encoder, pieces, options, sink);
      await image.checkUnchanged();
      changedBytes = encoder.changedBytes;
    },
  });
  return { ...info, changedBytes };
}
