// The requests and the response of the benchmark, and what adapters are to do with them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readPathFilterSync } from "hedgerow/node";

import { internalNames } from "../../../scripts/lib/corpus.mjs";

/** @typedef {{ path: string, headers: Record<string, string> }} Request */
/** @typedef {{ headers: string[], paths?: import("hedgerow").PathFilter }} Options */

/** What a framework is given: options of its adapter, or what does nothing in its place. @typedef {Options | "nothing" | undefined} Added */

/** A value of ordinary length. */
export const VALUE = "0123456789abcdef0123456789abcdef";

/** The content of a response. */
export const BODY = "Hello, world!\n";

/** What a response has, beside what Node adds; one of it is internal. */
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

/** The files that hand the benchmark to its processes. */
export const FILES = { requests: "requests.json", filter: "paths.filter" };

/** @param {string} folder @returns {Request[]} */
export const readRequests = (folder) =>
  JSON.parse(readFileSync(join(folder, FILES.requests), "utf8"));

/**
 * What a framework is given.
 *
 * @param {import("./plan.mjs").Way} way
 * @param {string} folder
 * @returns {Added}
 */
export function addedFor(way, folder) {
  if (way === "bare") return undefined;
  if (way === "nothing") return "nothing";
  const headers = internalNames();
  if (way === "nothing internal") return { headers: headers.map((name) => `${name}-0`) };
  if (way === "headers") return { headers };
  return { headers, paths: readPathFilterSync(join(folder, FILES.filter)) };
}
