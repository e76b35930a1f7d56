// The paths of a site: some of those that are installed, from all over them.
import { installedPaths } from "../../scripts/lib/installed-paths.mjs";

/** As many paths as the JSON of 1.5 MB had, in whose place the first filters came. */
export const SITE_PATHS = 24_441;

/** @param {number} count */
export function sitePaths(count) {
  const installed = installedPaths();
  if (installed.length < count) {
    throw new Error(`expected ${count} installed files, found ${installed.length}`);
  }
  return Array.from(
    { length: count },
    (_, index) => installed[Math.floor((index * installed.length) / count)] ?? "",
  );
}
