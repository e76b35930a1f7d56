import { realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";

import { SnapshotError } from "../error.js";
import type { SnapshotInfo } from "../format/manifest.js";
import { resolveTarget } from "../local/atomic-write.js";
import { copyImage } from "../local/copy-image.js";
import { checkDifferentPath, openFile } from "../local/open-file.js";
import { type Location, localPath } from "../location/location.js";
import { referencedFrom } from "../location/reference.js";
import type { GetOptions } from "../options/cache-options.js";
import type { Lease } from "./locks/leases.js";

/**
 * Returns the path for a copy, if one is requested. Throws if it cannot be written there, before anything is fetched.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
 */
export async function checkedCopyTarget(
  cacheDirectory: string,
  { copyTo, overwrite }: GetOptions,
  source: Location,
): Promise<string | undefined> {
  if (copyTo === undefined) return undefined;
  const target = await resolveTarget(localPath("copyTo", copyTo), { overwrite });
  await checkKept(target, source);
  const directory = await realpath(dirname(target)).catch(() => dirname(target));
  if (!`${directory}${sep}`.startsWith(`${cacheDirectory}${sep}`)) return target;
  const message = `copyTo: expected a path outside the cache, found ${target}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/**
 * Throws if a copy would replace a file that the snapshot refers to, whether it is read or not.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkBaseObjects(
  target: string,
  source: Location,
  { delta }: SnapshotInfo,
): Promise<void> {
  for (const { reference } of delta?.objects ?? [])
    if (reference !== "") await checkKept(target, referencedFrom(source, reference));
}

async function checkKept(target: string, location: Location): Promise<void> {
  if (location.kind !== "file") return;
  await checkDifferentPath("copyTo", target, location.path);
}

/** Makes a private copy of a leased image. @throws {SnapshotError} `ERR_CACHE`, and what `copyImage` throws */
export async function copyLeased(
  lease: Lease,
  target: string,
  { durable: isDurable = false, overwrite, signal }: GetOptions,
): Promise<void> {
  const image = await openFile("ERR_CACHE", lease.path, (file) => file);
  try {
    const opened = { fd: image.fd, size: lease.info.imageSize, name: lease.path };
    await copyImage(opened, target, { isDurable, overwrite, signal });
  } finally {
    await image.close();
  }
}
