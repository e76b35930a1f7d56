import { DecodeJob } from "../decode/decode-job.js";
import { compressPieces } from "../encode/compress-pieces.js";
import { SnapshotEncoder } from "../encode/snapshot-encoder.js";
import { ImageSegments } from "../format/image-segments.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { wrapWriteErrors } from "../local/atomic-write.js";
import { checkFreeSpace } from "../local/free-space.js";
import { ImageFile } from "../local/image-file.js";
import { type TemporaryFile, withTemporaryFile } from "../local/temporary-file.js";
import { largestOf } from "../location/part-size.js";
import { assembleSnapshot } from "../location/upload-snapshot.js";
import type { ObjectLocation } from "../s3/client.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import { contentsOf } from "./contents.js";
import { copiedPieces } from "./copied-pieces.js";
import { type PlannedPiece, planCopies } from "./copy-plan.js";
import { dataPieces } from "./data-pieces.js";
import type { FlattenJob } from "./flatten-image.js";
import { openCopyable } from "./open-copyable.js";
import { differingObjects, samplesOf } from "./samples.js";

/**
 * Flattens a snapshot in S3: the service copies the frames of pieces that are cut as in a full snapshot, and only other
 * pieces are restored and compressed again. Returns undefined if there is nothing to copy.
 *
 * A sample of the frames of each object shows whether they have the wanted level. If the frames of an object have several
 * levels, the snapshot is valid, but its identity may differ from that of `createSnapshot`.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_SOURCE_CHANGED`, and what reading the source throws
 */
export async function flattenByCopies(
  job: FlattenJob,
  destination: ObjectLocation,
): Promise<SnapshotInfo | undefined> {
  const { manifest, encoding } = job;
  const { frames } = manifest;
  const { imageSize } = manifest.info;
  const objects = await openCopyable(job);
  const segments = new ImageSegments(manifest, imageSize);
  const pieces = [...dataPieces(segments, imageSize, encoding.pieceSize)];
  const planWithout = (differing: ReadonlySet<number>) =>
    planCopies(pieces, {
      frames,
      objectOf(frame) {
        const number = frames.object(frame);
        const object = differing.has(number) ? undefined : objects.get(number);
        return object?.has(frames, frame) ? object : undefined;
      },
      hasHeader: (object) => object.hasHeader(imageSize, encoding.pieceSize),
    });
  const plan = planWithout(new Set());
  if (!plan.some(({ isCopied }) => isCopied)) return undefined;
  return withTemporaryFile(async (file) => {
    await wrapWriteErrors(file.path, file.handle.truncate(imageSize));
    const restored = new Set<number>();
    const samples = samplesOf(plan, frames);
    const sampled = samples.map(({ frame }) => frame);
    await restore(job, file, restored, [...framesOf(plan), ...sampled]);
    const image = await ImageFile.of(file.path, file.handle);
    const differing = await differingObjects(samples, frames, image, encoding, job.reading);
    if (differing.size === 0) return assemble(job, destination, plan, objects, file);
    const other = planWithout(differing);
    await restore(job, file, restored, framesOf(other));
    return assemble(job, destination, other, objects, file);
  });
}

/** Yields the frames with data of pieces that are not copied. */
function* framesOf(plan: readonly PlannedPiece[]): Generator<number> {
  for (const { isCopied, segments } of plan)
    if (!isCopied) for (const { frame } of segments) yield frame;
}

/** Restores the data of frames that are not restored yet. */
async function restore(
  { source, manifest, reading }: FlattenJob,
  { path: name, handle }: TemporaryFile,
  restored: Set<number>,
  wanted: Iterable<number>,
): Promise<void> {
  const missing = new Set(wanted);
  for (const frame of restored) missing.delete(frame);
  if (missing.size === 0) return;
  const lengths = [...missing].map((frame) => manifest.frames.usedLength(frame));
  await checkFreeSpace(
    name,
    lengths.reduce((sum, length) => sum + length, 0),
  );
  const image = { fd: handle.fd, name, mayHoldData: false, journal: undefined };
  const job = new DecodeJob(source.name, manifest, image, (frame) => missing.has(frame));
  await source.decode(job, reading);
  for (const frame of missing) restored.add(frame);
}

async function assemble(
  { manifest, encoding, writing: options, transfer }: FlattenJob,
  destination: ObjectLocation,
  plan: readonly PlannedPiece[],
  objects: Awaited<ReturnType<typeof openCopyable>>,
  { path, handle }: TemporaryFile,
): Promise<SnapshotInfo> {
  const { frames } = manifest;
  const { imageSize } = manifest.info;
  const image = await ImageFile.of(path, handle);
  const encoder = new SnapshotEncoder(await compiledEncode(), image, encoding);
  try {
    const tasks = await copiedPieces(plan, frames, image, encoding);
    const from = { frames, objects, imageSize, pieceSize: encoding.pieceSize };
    return await assembleSnapshot(destination, {
      ...{ options, transfer, largest: largestOf(imageSize, tasks.totalBytes) },
      make: (write) =>
        compressPieces("create", tasks, options, (compressed, counts) =>
          write(contentsOf(encoder, compressed, from, counts)),
        ),
    });
  } finally {
    encoder.free();
  }
}
