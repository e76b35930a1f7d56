/** Writes a snapshot to a file, a server or an object service, atomically, and reads its properties back. */
import type { FileHandle } from "node:fs/promises";

import { type EncodeJob, encodeImage } from "../encode/encode-image.js";
import { checkOf, imagePieces, toRead } from "../encode/image-pieces.js";
import { SnapshotEncoder } from "../encode/snapshot-encoder.js";
import { WrittenTail } from "../encode/written-tail.js";
import { SnapshotError } from "../error.js";
import { type Manifest, readManifest, type SnapshotInfo } from "../format/manifest.js";
import { put } from "../http/put.js";
import { requestTo } from "../http/request.js";
import { isRetryableStatus } from "../http/retry.js";
import { writeAtomically } from "../local/atomic-write.js";
import type { ImageFile } from "../local/image-file.js";
import { checkDifferentFile, SnapshotFile } from "../local/open-file.js";
import { openTemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { COLLIDED, hasStatus, MAX_TRIES } from "../services/failure.js";
import { nameOf, type ObjectLocation, type ObjectService } from "../services/object-service.js";
import { planOf, serviceOf } from "../services/open-service.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import type { Location } from "./location.js";
import { checkAbsentAt, checkStoredAt, existsError, isStoredAt } from "./stored-snapshot.js";

/**
 * Writes a full snapshot of an image.
 *
 * @param write writes it somewhere, as `writeSnapshot` does
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_IMAGE_CHANGED`, `ERR_TARGET`, `ERR_ARGUMENT`
 */
export function writeFullSnapshot(
  write: (making: EncodeJob) => Promise<SnapshotInfo>,
  job: Omit<EncodeJob, "make">,
): Promise<SnapshotInfo> {
  const { image, encoding, options } = job;
  return write({
    ...job,
    async make(sink) {
      const pieces = await imagePieces(image, encoding, await checkOf(options));
      const encoder = new SnapshotEncoder(await compiledEncode(), image, encoding);
      await encodeImage(encoder, pieces, options, sink);
      await image.checkUnchanged();
    },
  });
}

/**
 * Creates a snapshot at a location, atomically. Returns its properties, read back from the bytes that were
 * written.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`, and what `making` throws
 */
export function writeSnapshot(location: Location, making: EncodeJob): Promise<SnapshotInfo> {
  switch (location.kind) {
    case "file":
      return writeSnapshotFile(location.path, making);
    case "http":
      return putSnapshot(location.url, making);
    case "object":
      return uploadSnapshot(location, making);
  }
}

/** Creates a snapshot as a local file. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
async function writeSnapshotFile(path: string, making: EncodeJob): Promise<SnapshotInfo> {
  await checkDifferentFile("destination", path, making.image.id);
  const fill = async (file: FileHandle) => (await fillSnapshotFile(path, file, making)).info;
  return writeAtomically(path, making.options, fill);
}

/** Writes a snapshot to an open file. Returns its manifest, read back from the bytes that were written. */
export async function fillSnapshotFile(
  path: string,
  handle: FileHandle,
  { make }: EncodeJob,
): Promise<Manifest> {
  await make(async (bytes) => {
    for await (const chunk of bytes) await wrapWriteErrors(path, handle.writeFile(chunk));
  });
  return readManifest(await SnapshotFile.of(path, handle));
}

/**
 * Uploads a snapshot to a URL. The request has to state its length, which is known only when the snapshot is
 * complete, so that it is written to a temporary file first. If it must not replace an object, the URL is read before and
 * after the upload: some servers ignore the condition.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
async function putSnapshot(url: URL, making: EncodeJob): Promise<SnapshotInfo> {
  const { options, transfer } = making;
  const { headers, signal, overwrite = true } = options;
  const request = requestTo(url, headers, overwrite ? {} : { "if-none-match": "*" });
  if (!overwrite) await checkAbsentAt(url, options);
  const { path, handle } = await openTemporaryFile();
  try {
    const { info } = await fillSnapshotFile(path, handle, making);
    try {
      await put(request, { handle, size: info.fileSize }, transfer, signal);
    } catch (error) {
      // An earlier attempt may have stored it, whose response was lost.
      const isThere = error instanceof SnapshotError && error.status === 412;
      if (isThere && (await isStoredAt(url, info.digest, options))) return info;
      throw error;
    }
    if (!overwrite) await checkStoredAt(url, info.digest, options);
    return info;
  } finally {
    await handle.close();
  }
}

/**
 * Writes a snapshot to an object of a service. If a conflict has ended the upload, another one is started.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
async function uploadSnapshot(
  location: ObjectLocation,
  { image, encoding, options, transfer, make }: EncodeJob,
): Promise<SnapshotInfo> {
  const { signal, overwrite = true } = options;
  const service = await serviceOf(location, options);
  try {
    const largest = await largestSnapshot(image, encoding.pieceSize);
    const plan = planOf(service, options, transfer, largest);
    for (let tries = 1; ; tries += 1) {
      if (!overwrite) await checkAbsent(service, location, signal);
      try {
        return await service.upload(location.key, plan, async (write) => {
          const tail = new WrittenTail(nameOf(location));
          await make((bytes) => write(tail.keep(bytes)));
          return (await readManifest(tail)).info;
        });
      } catch (error) {
        if (overwrite || tries === MAX_TRIES || !hasStatus(error, COLLIDED)) throw error;
      }
    }
  } finally {
    service.close();
  }
}

/**
 * Throws early if the object exists, or the service fails. If the check itself is refused, the upload finds out:
 * credentials that may write may not be allowed to read.
 */
async function checkAbsent(
  service: ObjectService,
  location: ObjectLocation,
  signal: AbortSignal | undefined,
) {
  try {
    await service.size(location.key, { signal, code: "ERR_TARGET" });
  } catch (error) {
    const { status } = Object(error) as { readonly status?: number };
    if (status === undefined || isRetryableStatus(status)) throw error;
    return;
  }
  throw existsError(nameOf(location));
}

/** The most bytes of a manifest and of the headers of frames. */
const MAX_OVERHEAD = 2 ** 27;

/** Returns the largest possible size of a snapshot of an image: see the limits in `docs/vhs.md`. */
async function largestSnapshot(image: ImageFile, pieceSize: number): Promise<number> {
  const { totalBytes } = toRead(image.size, pieceSize, await image.extents());
  // Data grows by up to a 256th, and zeros shrink to a 32,768th.
  return totalBytes + Math.ceil(totalBytes / 256) + Math.ceil(image.size / 32_768) + MAX_OVERHEAD;
}
