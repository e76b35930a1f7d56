import { SnapshotError } from "../error.js";
import type { TransferOptions } from "../http/transfer.js";
import { checkDifferentPath } from "../local/open-file.js";
import type { Location } from "./location.js";
import { identityOf } from "./server.js";

/**
 * Throws if a destination is a file or an object that is read.
 *
 * @param needed the locations of a snapshot and of its base objects
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkDestination(
  destination: Location,
  needed: readonly (Location | undefined)[],
  options: TransferOptions,
): Promise<void> {
  for (const location of needed) {
    if (location === undefined) continue;
    if (destination.kind === "file" && location.kind === "file") {
      await checkDifferentPath("destination", destination.path, location.path);
    } else if (destination.kind !== "file" && location.kind !== "file") {
      if (identityOf(destination, options) !== identityOf(location, options)) continue;
      const message = "destination: expected a URL other than those of the objects that are read";
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
  }
}
