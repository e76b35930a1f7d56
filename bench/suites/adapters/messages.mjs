// The requests and the response of the benchmark, and the setup of each variant.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildPathFilter } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { internalNames, requests } from "../../../scripts/lib/corpus.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";

/** @typedef {{ path: string, headers: Record<string, string> }} Request */
/** @typedef {{ headers: string[], paths?: import("hedgerow").PathFilter }} Options */

/**
 * The options of an adapter, in its place no-op middleware or middleware with a set of names, or neither.
 *
 * @typedef {Options | "nothing" | Set<string> | undefined} Setup
 */

/** A value of typical length. */
const VALUE = "0123456789abcdef0123456789abcdef";

/** The body of a response. */
export const BODY = "Hello, world!\n";

/** The fields of a response without those that Node adds; one is internal. */
export const RESPONSE_HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "content-length": `${BODY.length}`,
  "cache-control": "public, max-age=0, must-revalidate",
  etag: `"${VALUE}"`,
  "x-internal-service-name": VALUE,
  vary: "accept-encoding",
  "x-content-type-options": "nosniff",
  "x-request-id": VALUE,
};

/** Fields that a client sets itself or that change the framing of a message. */
const FRAMING = new Set(["connection", "content-length", "expect", "host", "te"]);

/** The number of fields of a request without `Host` and `Connection`, which every request has. */
const REQUEST_FIELDS = 20 - 2;

/** The files that pass the inputs to the processes. */
const FILES = { requests: "requests.json", filter: "paths.filter" };

/** Writes a filter, and the requests of `real` with 20 fields, each for a path of its own. @param {string} folder */
export function writeInputs(folder) {
  const paths = sitePaths(SITE_PATHS);
  const named = requests("real")
    .map(({ names }) => names.filter((name) => !FRAMING.has(name)))
    .filter(({ length }) => length === REQUEST_FIELDS);
  const made = named.map((names, index) => ({
    path: encodeURI(paths[Math.floor((index * paths.length) / named.length)] ?? ""),
    headers: Object.fromEntries(names.map((name) => [name, VALUE])),
  }));
  writeFileSync(join(folder, FILES.filter), buildPathFilter(paths));
  writeFileSync(join(folder, FILES.requests), JSON.stringify(made));
}

/** @param {string} folder @returns {Request[]} */
export const readRequests = (folder) =>
  JSON.parse(readFileSync(join(folder, FILES.requests), "utf8"));

/**
 * The code that runs in a framework. `bare` is the framework alone, `nothing` a middleware, hook or interceptor that
 * does nothing. `set` is one that a user would write, with a `Set` of the names that `headers` strips.
 * `nothing internal` has as many rules as `headers`, but none matches.
 */
export const VARIANTS = [
  ...["bare", "nothing", "nothing internal", "set", "headers", "headers and paths"],
];

/** Returns the setup of a variant. @param {string} variant @param {string} folder @returns {Setup} */
export function setupOf(variant, folder) {
  if (variant === "bare") return undefined;
  if (variant === "nothing") return "nothing";
  const headers = internalNames();
  if (variant === "set") return new Set(headers);
  if (variant === "nothing internal") return { headers: headers.map((name) => `${name}-0`) };
  if (variant === "headers") return { headers };
  return { headers, paths: readPathFilterSync(join(folder, FILES.filter)) };
}
