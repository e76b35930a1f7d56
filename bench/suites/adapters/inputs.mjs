// Makes the requests of the benchmark and the filter of their paths.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildPathFilter } from "hedgerow";

import { requests } from "../../../scripts/lib/corpus.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";
import { FILES, VALUE } from "./messages.mjs";
import { REQUEST_FIELDS } from "./plan.mjs";

/** Fields that a client sets itself or that change the framing of a message. */
const FRAMING = new Set(["connection", "content-length", "expect", "host", "te"]);

/** The fields of every request: `Host` and `Connection`. */
const ALWAYS = 2;

/** @param {string} folder */
export function writeInputs(folder) {
  const paths = sitePaths(SITE_PATHS);
  writeFileSync(join(folder, FILES.filter), buildPathFilter(paths));
  writeFileSync(join(folder, FILES.requests), JSON.stringify(sampleRequests(paths)));
}

/**
 * Returns the requests of `real` with `REQUEST_FIELDS` fields, each for a path of its own.
 *
 * @param {string[]} paths
 * @returns {import("./messages.mjs").Request[]}
 */
function sampleRequests(paths) {
  const named = requests("real")
    .map(({ names }) => names.filter((name) => !FRAMING.has(name)))
    .filter(({ length }) => length + ALWAYS === REQUEST_FIELDS);
  return named.map((names, index) => ({
    path: encodeURI(paths[Math.floor((index * paths.length) / named.length)] ?? ""),
    headers: Object.fromEntries(names.map((name) => [name, VALUE])),
  }));
}
