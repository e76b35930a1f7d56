import type { EncodeJob } from "../encode/encode-job.js";
import { WrittenTail } from "../encode/written-tail.js";
import { readManifest, type SnapshotInfo } from "../format/manifest.js";
import { isRetryableStatus } from "../http/retry.js";
import { forUploads } from "../options/transfer-options.js";
import type { ObjectLocation } from "../s3/client.js";
import type { Content } from "../s3/content.js";
import { cutParts } from "../s3/cut-parts.js";
import { type UploadPlan, uploadParts, uploadWhole } from "../s3/multipart-upload.js";
import { ObjectStore } from "../s3/object-store.js";
import { TemporaryObjects } from "../s3/temporary-objects.js";
import { largestSnapshot, partSizeFor } from "./part-size.js";
import { existsError } from "./stored-snapshot.js";

/** How many parts are uploaded at a time by default. */
const CONNECTIONS = 4;

/** The largest range that is copied with one request, in bytes: the response takes as long as the copy. */
const MAX_COPY = 2 ** 27;

/** Writes a snapshot to an object of S3. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export function uploadSnapshot(
  location: ObjectLocation,
  { image, encoding, options, transfer, make }: EncodeJob,
): Promise<SnapshotInfo> {
  return withStore(location, { options, transfer }, true, async (store) => {
    const plan = planOf({ options, transfer }, await largestSnapshot(image, encoding.pieceSize));
    return uploadWhole(store, plan, async (write) => {
      const tail = new WrittenTail(store.name);
      await make((bytes) => write(tail.keep(bytes)));
      return (await readManifest(tail)).info;
    });
  });
}

/** A snapshot that is made of bytes and of ranges of other objects. */
export interface AssembleJob extends Pick<EncodeJob, "options" | "transfer"> {
  /** The largest possible size of the snapshot, in bytes. */
  readonly largest: number;
  /** Passes the contents of the snapshot to `write`, in order. Unless they begin with a range, the first is a part. */
  make(write: (contents: AsyncIterable<Content>) => Promise<void>): Promise<void>;
}

/**
 * Writes a snapshot to an object of S3, and has the service copy ranges of other objects.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_SOURCE_CHANGED`, `ERR_ARGUMENT`
 */
export function assembleSnapshot(
  location: ObjectLocation,
  job: AssembleJob,
): Promise<SnapshotInfo> {
  return withStore(location, job, false, async (store) => {
    // Parts of half the size leave room for the small ones at the beginning and the end of each range.
    const plan = planOf(job, 2 * job.largest);
    const objects = new TemporaryObjects(store, plan);
    try {
      return await uploadParts(store, plan, async (write) => {
        const tail = new WrittenTail(store.name);
        const join = (contents: readonly Content[]) => objects.join(contents);
        const how = { partSize: plan.partSize, join };
        await job.make((contents) => write(cutParts(tail.keep(contents), how)));
        return (await readManifest(tail)).info;
      });
    } finally {
      await objects.remove();
    }
  });
}

async function withStore<T>(
  location: ObjectLocation,
  { options, transfer }: Pick<EncodeJob, "options" | "transfer">,
  hasChecksums: boolean,
  use: (store: ObjectStore) => Promise<T>,
): Promise<T> {
  const { signal, overwrite = true } = options;
  const patient = forUploads(transfer);
  const store = await ObjectStore.open(location, options.s3, patient, signal, hasChecksums);
  try {
    if (!overwrite) await checkAbsent(store, signal);
    return await use(store);
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
    ...{ overwrite, signal },
    partSize: partSizeFor(transfer.partSize, largest),
    maxCopy: partSizeFor(MAX_COPY, largest),
    connections: transfer.connections ?? CONNECTIONS,
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
