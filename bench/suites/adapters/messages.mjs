// The requests and the response of the benchmark, and the setup of each variant.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readPathFilterSync } from "hedgerow/node";

import { internalNames } from "../../../scripts/lib/corpus.mjs";

/** @typedef {{ path: string, headers: Record<string, string> }} Request */
/** @typedef {{ headers: string[], paths?: import("hedgerow").PathFilter }} Options */

/** The options of an adapter, no-op middleware in its place, or none of both. @typedef {Options | "nothing" | undefined} Setup */

/** A value of typical length. */
export const VALUE = "0123456789abcdef0123456789abcdef";

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

/** The files that pass the inputs to the processes. */
export const FILES = { requests: "requests.json", filter: "paths.filter" };

/** @param {string} folder @returns {Request[]} */
export const readRequests = (folder) =>
  JSON.parse(readFileSync(join(folder, FILES.requests), "utf8"));

/**
 * Returns the setup of a variant.
 *
 * @param {import("./plan.mjs").Variant} variant
 * @param {string} folder
 * @returns {Setup}
 */
export function setupOf(variant, folder) {
  if (variant === "bare") return undefined;
  if (variant === "nothing") return "nothing";
  const headers = internalNames();
  if (variant === "nothing internal") return { headers: headers.map((name) => `${name}-0`) };
  if (variant === "headers") return { headers };
  return { headers, paths: readPathFilterSync(join(folder, FILES.filter)) };
}
