import type { EncodeJob } from "../encode/encode-job.js";
import { WrittenTail } from "../encode/written-tail.js";
import { SnapshotError } from "../error.js";
import { readManifest, type SnapshotInfo } from "../format/manifest.js";
import type { ObjectLocation } from "../s3/client.js";
import { uploadWhole } from "../s3/multipart-upload.js";
import { ObjectStore } from "../s3/object-store.js";
import { largestSnapshot, partSizeFor } from "./part-size.js";

/** How many parts are uploaded at a time by default. */
const CONNECTIONS = 4;

/** Writes a snapshot to an object of S3. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
export async function uploadSnapshot(
  location: ObjectLocation,
  { image, encoding, options, transfer, make }: EncodeJob,
): Promise<SnapshotInfo> {
  const { signal, overwrite = true } = options;
  const store = await ObjectStore.open(location, options.s3, transfer, signal);
  try {
    if (!overwrite) await checkAbsent(store, signal);
    const largest = await largestSnapshot(image, encoding.pieceSize);
    const partSize = partSizeFor(transfer.partSize, largest);
    const connections = transfer.connections ?? CONNECTIONS;
    return await uploadWhole(store, { partSize, connections, overwrite, signal }, async (write) => {
      const tail = new WrittenTail(store.name);
      await make((bytes) => write(tail.keep(bytes)));
      return (await readManifest(tail)).info;
    });
  } finally {
    store.close();
  }
}

/**
 * Throws early if the object exists. If the check itself is refused, the upload finds out: credentials that may
 * write may not be allowed to read.
 */
async function checkAbsent(store: ObjectStore, signal = new AbortController().signal) {
  const { bucket: Bucket, key: Key } = store.location;
  try {
    await store.send((s3, options) => s3.headObject({ Bucket, Key }, options), signal, signal);
  } catch (error) {
    if (error instanceof SnapshotError && error.status !== undefined) return;
    throw error;
  }
  const message = "destination already exists; pass overwrite: true to replace it";
  throw new SnapshotError("ERR_TARGET", `${store.name}: ${message}`);
}
