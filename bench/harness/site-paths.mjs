// The paths of a site: some of those that are installed, from all over them.
import { installedPaths } from "../../scripts/lib/installed-paths.mjs";

/** As many paths as the JSON of 1.5 MB had, in whose place the first filters came. */
export const SITE_PATHS = 24_441;

/** The paths of a site that has more of them than that are those of its releases. @param {number} count */
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
