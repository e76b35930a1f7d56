// The paths of a site: a sample of the files of installed packages.
import { installedPaths } from "../../scripts/lib/installed-files.mjs";

/** The number of paths of a site whose JSON has 1.5 MB. */
export const SITE_PATHS = 24_441;

/** Returns the paths of a site. Beyond `SITE_PATHS`, they repeat for several releases. @param {number} count */
export function sitePaths(count) {
  const ofRelease = installedSample(Math.min(count, SITE_PATHS));
  return Array.from({ length: count }, (_, index) => {
    const path = ofRelease[index % SITE_PATHS] ?? "";
    return index < SITE_PATHS ? path : `/releases/${Math.floor(index / SITE_PATHS)}${path}`;
  });
}

/** @param {number} count */
function installedSample(count) {
  const installed = installedPaths();
  if (installed.length < count) {
    throw new Error(`expected ${count} installed files, found ${installed.length}`);
  }
  return Array.from(
    { length: count },
    (_, index) => installed[Math.floor((index * installed.length) / count)] ?? "",
  );
}
