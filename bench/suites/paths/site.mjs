// The paths of a site, as a filter and as JSON.
import { buildPathFilter } from "hedgerow";

import { sitePaths } from "../../harness/site-paths.mjs";

/** @typedef {ReturnType<typeof makeSite>} Site */

/** @param {number} count */
export function makeSite(count) {
  const paths = sitePaths(count);
  return {
    count,
    paths,
    json: JSON.stringify(paths),
    tree: JSON.stringify(treeOf(paths)),
    file: buildPathFilter(paths),
    classic: buildPathFilter(paths, { sizing: "classic" }),
  };
}

/** @param {string[]} list */
function treeOf(list) {
  /** @type {any} */
  const root = {};
  for (const path of list) {
    let folder = root;
    const segments = path.slice(1).split("/");
    const name = segments.pop() ?? "";
    for (const segment of segments) {
      folder[segment] ??= {};
      folder = folder[segment];
    }
    // The metadata that a deployment has for a file.
    folder[name] = { type: "file", size: path.length, mode: 33188 };
  }
  return root;
}
