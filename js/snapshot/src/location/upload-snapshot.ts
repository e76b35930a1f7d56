import type { EncodeJob } from "../encode/encode-image.js";
import { WrittenTail } from "../encode/written-tail.js";
import { readManifest, type SnapshotInfo } from "../format/manifest.js";
import { isRetryableStatus } from "../http/retry.js";
import { forUploads } from "../http/transfer.js";
import type { ObjectLocation } from "../s3/failure.js";
import { type UploadPlan, uploadWhole } from "../s3/multipart-upload.js";
import { ObjectStore } from "../s3/object-store.js";
import { largestSnapshot, partSizeFor } from "./part-size.js";
import { existsError } from "./stored-snapshot.js";

/** How many parts are uploaded at a time by default. */
const CONNECTIONS = 4;

/** Writes a snapshot to an object of S3. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export async function uploadSnapshot(
  location: ObjectLocation,
  { image, encoding, options, transfer, make }: EncodeJob,
): Promise<SnapshotInfo> {
  const { signal, overwrite = true } = options;
  const store = await ObjectStore.open(location, options.s3, forUploads(transfer), signal);
  try {
    if (!overwrite) await checkAbsent(store, signal);
    const plan = planOf({ options, transfer }, await largestSnapshot(image, encoding.pieceSize));
    return await uploadWhole(store, plan, async (write) => {
      const tail = new WrittenTail(store.name);
      await make((bytes) => write(tail.keep(bytes)));
      return (await readManifest(tail)).info;
    });
  } finally {
    store.close();
  }
}

/** Returns how an object of up to `largest` bytes is uploaded. */
export function planOf(
  { options, transfer }: Pick<EncodeJob, "options" | "transfer">,
  largest: number,
): UploadPlan {
  const { signal, overwrite = true } = options;
  return {
    partSize: partSizeFor(transfer.partSize, largest),
    connections: transfer.connections ?? CONNECTIONS,
    overwrite,
    signal,
  };
}

/**
 * Throws early if the object exists, or the service fails. If the check itself is refused, the upload finds out:
 * credentials that may write may not be allowed to read.
 */
async function checkAbsent(store: ObjectStore, signal = new AbortController().signal) {
  const { bucket: Bucket, key: Key } = store.location;
  try {
    await store.send((s3, options) => s3.headObject({ Bucket, Key }, options), signal, signal);
  } catch (error) {
    const { status } = Object(error) as { readonly status?: number };
    if (status === undefined || isRetryableStatus(status)) throw error;
    return;
  }
  throw existsError(store.name);
}
