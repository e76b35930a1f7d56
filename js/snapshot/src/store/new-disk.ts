/** The first generation of a disk. */
import { randomUUID } from "node:crypto";

import { checkEncoding } from "../encode/snapshot-encoder.js";
import { ImageFile } from "../local/image-file.js";
import { withTemporaryFile } from "../local/private-file.js";
import { wrapWriteErrors } from "../local/system-errors.js";
import { writeFullSnapshot } from "../location/full-snapshot.js";
import { localPath, locationOf } from "../location/location.js";
import { encodingOf } from "../options/create-options.js";
import type { NewDiskOptions } from "../options/store-options.js";
import { type Transfer, transferOf } from "../options/transfer-options.js";
import { compiledEncode } from "../wasm/compiled-encode.js";
import type { ParentGeneration, Pointer } from "./pointer.js";
import { type Snapshots, type StoredSnapshot, storedOf } from "./snapshots.js";

/** Stores the content of a new disk. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeContent(
  snapshots: Snapshots,
  digest: string | undefined,
  options: NewDiskOptions,
): Promise<StoredSnapshot> {
  const { from, image, size } = options;
  if (from !== undefined) return snapshots.import(locationOf("from", from), digest, options);
  if (image !== undefined) {
    const file = await ImageFile.open(localPath("image", image));
    try {
      if (options.format === undefined) await file.checkRaw();
      return await storeImage(snapshots, file, options);
    } finally {
      await file.close();
    }
  }
  return withTemporaryFile(async ({ path, handle }) => {
    await wrapWriteErrors(`${path}, as TMPDIR says`, handle.truncate(size ?? 0));
    return storeImage(snapshots, await ImageFile.of(path, handle), options);
  });
}

/** Stores a snapshot of an image. @throws {SnapshotError} what `DiskStore.create` throws */
export async function storeImage(
  snapshots: Snapshots,
  image: ImageFile,
  options: NewDiskOptions,
): Promise<StoredSnapshot> {
  const encoding = encodingOf(options);
  checkEncoding(await compiledEncode(), encoding);
  const transfer: Transfer = transferOf(options);
  return snapshots.create(async ({ write, publish }) => {
    const info = await writeFullSnapshot(write, { image, encoding, options, transfer });
    await publish(info, options.signal);
    return storedOf(info);
  });
}

/** Returns the pointer of a new disk. @param parent of a fork */
export function newPointer(
  { digest, bases, sizes, imageSize }: StoredSnapshot,
  time: number,
  {
    label,
    parent,
  }: {
    readonly label?: string | undefined;
    readonly parent?: ParentGeneration | undefined;
  } = {},
): Pointer {
  const first = { number: 1, digest, bases, time: Math.round(time), label, parent };
  return {
    ...{ id: randomUUID(), epoch: 0, lease: null, size: imageSize, next: 2 },
    generations: [first],
    objects: sizes,
  };
}
