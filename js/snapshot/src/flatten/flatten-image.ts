import { DecodeJob } from "../decode/decode-job.js";
import type { EncodeJob } from "../encode/encode-job.js";
import type { Manifest, SnapshotInfo } from "../format/manifest.js";
import { wrapWriteErrors } from "../local/atomic-write.js";
import { checkFreeSpace } from "../local/free-space.js";
import { ImageFile } from "../local/image-file.js";
import { withTemporaryFile } from "../local/temporary-file.js";
import { writeSnapshot } from "../location/destination.js";
import { writeFullSnapshot } from "../location/full-snapshot.js";
import type { Location } from "../location/location.js";
import type { Source } from "../location/source.js";
import type { CreateOptions, Encoding } from "../options/create-options.js";
import type { Transfer } from "../options/transfer-options.js";
import type { ReadWorkOptions } from "../options/work-options.js";

/** A snapshot to flatten. */
export interface FlattenJob {
  readonly source: Source;
  readonly manifest: Manifest;
  /** The locations of the snapshot and of its base objects, by their number, as far as they are known. */
  readonly locations: readonly (Location | undefined)[];
  readonly destination: Location;
  readonly encoding: Encoding;
  readonly transfer: Transfer;
  /** The options of reading. */
  readonly reading: ReadWorkOptions;
  /** The options of writing. */
  readonly writing: CreateOptions;
}

/**
 * Restores the image of a snapshot into a temporary file, and creates a snapshot of that.
 *
 * @throws {SnapshotError} `ERR_TARGET`, and what reading the source throws
 */
export function flattenImage(job: FlattenJob): Promise<SnapshotInfo> {
  const { source, manifest, destination, encoding, transfer, reading, writing } = job;
  const { imageSize, dataSize } = manifest.info;
  return withTemporaryFile(async ({ path: name, handle }) => {
    await checkFreeSpace(name, dataSize);
    await wrapWriteErrors(name, handle.truncate(imageSize));
    const target = { fd: handle.fd, name, mayHoldData: false, journal: undefined };
    await source.decode(new DecodeJob(source.name, manifest, target), reading);
    const image = await ImageFile.of(name, handle);
    const write = (making: EncodeJob) => writeSnapshot(destination, making);
    return writeFullSnapshot(write, { image, encoding, options: writing, transfer });
  });
}
