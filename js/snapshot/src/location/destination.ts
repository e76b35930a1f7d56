import type { EncodeJob } from "../encode/encode-image.js";
import type { SnapshotInfo } from "../format/manifest.js";
import type { Location } from "./location.js";
import { putSnapshot } from "./put-snapshot.js";
import { uploadSnapshot } from "./upload-snapshot.js";
import { writeSnapshotFile } from "./write-snapshot-file.js";

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
    case "s3":
      return uploadSnapshot(location, making);
  }
}
