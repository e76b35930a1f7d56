// Makes the requests of the benchmark, and the filter of their paths.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildPathFilter } from "hedgerow";

import { requests } from "../../../scripts/lib/corpus.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";
import { FILES, VALUE } from "./messages.mjs";
import { REQUEST_FIELDS } from "./plan.mjs";

/** Names that a client sets by itself, or that would change what a message is. */
const FRAMING = new Set(["connection", "content-length", "expect", "host", "te"]);

/** `Host` and `Connection`, which every request has. */
const ALWAYS = 2;

/** @param {string} folder */
export function writeInputs(folder) {
  const paths = sitePaths(SITE_PATHS);
  writeFileSync(join(folder, FILES.filter), buildPathFilter(paths));
  writeFileSync(join(folder, FILES.requests), JSON.stringify(sampleRequests(paths)));
}

/**
 * All requests of real traffic that have so many fields, each for a path of its own.
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
