// Loading what says which paths a site has, and asking once.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PathFilter, PathSet } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { measure } from "../../harness/measure.mjs";
import { SITE_PATHS } from "../../harness/site-paths.mjs";
import { PlainReader } from "./plain-reader.mjs";

/** @typedef {Record<string, () => unknown>} Ways */

const TRUSTED = { validate: false };

/** How many paths are parsed in one pass, over all times that they are. */
const PARSED = 20 * SITE_PATHS;
/** How often they are parsed at most, and at least. */
const [MOST_TIMES, LEAST_TIMES] = [50, 5];

/**
 * All ways for a site of the usual size, and those that matter for others.
 *
 * @param {import("./site.mjs").Site} site
 * @param {import("./plan.mjs").Plan} plan
 */
export function measureLoading(site, plan) {
  const { count, paths, file, json, tree } = site;
  const first = paths[count >> 1] ?? "";
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
  try {
    const more = count === SITE_PATHS ? moreWays(site, first, folder) : { light: {}, heavy: {} };
    const light = {
      "hedgerow, trusted": () => askOnce(PathFilter.parse(file, TRUSTED), first),
      hedgerow: () => askOnce(PathFilter.parse(file), first),
      ...more.light,
    };
    // What parses JSON leaves nothing of the caches, and is measured apart.
    const heavy = {
      "JSON.parse + Set": () => new Set(JSON.parse(json)).has(first),
      "JSON tree, parsed": () => JSON.parse(tree),
      ...more.heavy,
    };
    const times = Math.min(MOST_TIMES, Math.max(LEAST_TIMES, Math.round(PARSED / count)));
    return [
      ...measure(methods(light), Array.from({ length: 200 }), plan.light),
      ...measure(methods(heavy), Array.from({ length: times }), plan.heavy),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {import("./site.mjs").Site} site
 * @param {string} first
 * @param {string} folder
 * @returns {Record<"light" | "heavy", Ways>}
 */
function moreWays({ file, classic, json }, first, folder) {
  const name = join(folder, "paths.filter");
  writeFileSync(name, file);
  const text = new TextDecoder().decode(file);
  return {
    light: {
      "hedgerow, classic, trusted": () => askOnce(PathFilter.parse(classic, TRUSTED), first),
      "hedgerow, classic": () => askOnce(PathFilter.parse(classic), first),
      "hedgerow, from a file, trusted": () => askOnce(readPathFilterSync(name, TRUSTED), first),
    },
    heavy: {
      "plain JS reader": () => new PlainReader(text).has(first),
      PathSet: () => askOnce(PathSet.parse(json), first),
    },
  };
}

/** @param {Ways} ways */
const methods = (ways) =>
  Object.entries(ways).map(([name, run]) => ({ name, make: () => undefined, run }));

/** @param {{ has(path: string): boolean, free(): void }} lookup @param {string} path */
function askOnce(lookup, path) {
  const isPresent = lookup.has(path);
  lookup.free();
  return isPresent;
}
