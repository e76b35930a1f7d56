// Loads the paths of a site and checks one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { PathFilter, PathSet } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";
import { measure } from "../../harness/measure.mjs";
import { methodsOf } from "../../harness/methods.mjs";
import { SITE_PATHS } from "../../harness/site-paths.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { PlainReader } from "./plain-reader.mjs";

const TRUSTED = { validate: false };

/** The number of paths parsed in a pass, over all repetitions. */
const PARSED = 20 * SITE_PATHS;
/** The maximum and the minimum of repetitions. */
const [MAX_TIMES, MIN_TIMES] = [50, 5];

/**
 * Times all methods for a site of the usual size, and the main ones for others.
 *
 * @param {import("./run.mjs").Site} site
 * @param {import("./suite.mjs").Plan} plan
 */
export function measureLoading(site, plan) {
  const { count, paths, file, json, tree } = site;
  const first = paths[count >> 1] ?? "";
  return inTemporaryFolder(async (folder) => {
    const more = count === SITE_PATHS ? moreMethods(site, first, folder) : { light: {}, heavy: {} };
    const light = methodsOf(() => undefined, {
      "hedgerow, trusted": () => checkOnce(PathFilter.parse(file, TRUSTED), first),
      hedgerow: () => checkOnce(PathFilter.parse(file), first),
      ...more.light,
    });
    // Parsing JSON evicts everything from the processor’s caches, so it is measured apart.
    const heavy = methodsOf(() => undefined, {
      "JSON.parse + Set": () => new Set(JSON.parse(json)).has(first),
      "JSON tree, parsed": () => JSON.parse(tree),
      ...more.heavy,
    });
    const times = Math.min(MAX_TIMES, Math.max(MIN_TIMES, Math.round(PARSED / count)));
    return [
      ...(await measure(light, Array.from({ length: 200 }), plan.light)),
      ...(await measure(heavy, Array.from({ length: times }), plan.heavy)),
    ];
  });
}

/** @param {import("./run.mjs").Site} site @param {string} first @param {string} folder */
function moreMethods({ file, classic, json }, first, folder) {
  const name = join(folder, "paths.filter");
  writeFileSync(name, file);
  const text = new TextDecoder().decode(file);
  return {
    light: {
      "hedgerow, classic, trusted": () => checkOnce(PathFilter.parse(classic, TRUSTED), first),
      "hedgerow, classic": () => checkOnce(PathFilter.parse(classic), first),
      "hedgerow, from a file, trusted": () => checkOnce(readPathFilterSync(name, TRUSTED), first),
    },
    heavy: {
      "plain JS reader": () => new PlainReader(text).has(first),
      PathSet: () => checkOnce(PathSet.parse(json), first),
    },
  };
}

/** @param {{ has(path: string): boolean, free(): void }} lookup @param {string} path */
function checkOnce(lookup, path) {
  const isPresent = lookup.has(path);
  lookup.free();
  return isPresent;
}
