import { readManifest } from "../format/manifest.js";
import { strongEtag } from "../http/object-version.js";
import { RemoteObject } from "../http/remote-object.js";
import type { Location } from "../location/location.js";
import { withObjects } from "../location/open-object.js";
import { checkPinned } from "../options/digest.js";
import { CopyableObject } from "./copyable-object.js";
import type { FlattenJob } from "./flatten-image.js";

/**
 * Reads the manifests of the objects in S3 that a snapshot consists of. Returns those from which frames can be copied,
 * by their number.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_FORMAT`, `ERR_SNAPSHOT_DIGEST`
 */
export async function openCopyable(job: FlattenJob): Promise<Map<number, CopyableObject>> {
  const { source, manifest, locations, encoding, reading, transfer } = job;
  const copyable = new Map<number, CopyableObject>();
  const add = (
    number: number,
    location: Location | undefined,
    etag: string | undefined,
    of: typeof manifest,
  ) => {
    if (location?.kind !== "s3" || etag === undefined) return;
    const object = new CopyableObject({ location, etag }, of);
    if ((object.level ?? encoding.level) === encoding.level) copyable.set(number, object);
  };
  const [own, ...bases] = locations;
  add(0, own, source.etag, manifest);
  const objects = manifest.info.delta?.objects ?? [];
  const inS3 = bases.map((location) => (location?.kind === "s3" ? location : undefined));
  const howOf = (at: number) => ({
    ...{ options: reading, transfer, prefixLength: 0 },
    nameOf: (place: string) => `base object ${objects[at]?.digest} (${place})`,
  });
  await withObjects(inS3, howOf, async (opened) => {
    for (const [at, object] of opened.entries()) {
      if (!(object instanceof RemoteObject)) continue;
      const found = await readManifest(object);
      checkPinned(object.name, objects[at]?.digest, found.info.digest);
      add(at + 1, inS3[at], strongEtag(object.version.etag), found);
    }
  });
  return copyable;
}
