// Checks paths of about 60 bytes, half of them absent, as strings that the engine has not seen before.
import bloomFilters from "bloom-filters";
import { PathFilter } from "hedgerow";

import { unknownPaths } from "../../../scripts/lib/installed-files.mjs";
import { measure } from "../../harness/measure.mjs";
import { methodsOf } from "../../harness/methods.mjs";
import { PlainReader } from "./plain-reader.mjs";

/** The default rate of false positives. */
const RATE = 1e-7;

/** The number of lists, and of paths in each. */
const [LISTS, PATHS] = [16, 512];

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** @param {import("./run.mjs").Site} site @param {import("./suite.mjs").Plan} plan */
export async function measureAsking({ paths, file, fuse }, { asking, askingRivals }) {
  const ofSixty = paths.filter((path) => path.length >= 50 && path.length <= 70);
  const present = ofSixty.slice(0, (LISTS * PATHS) / 2);
  const queries = present.flatMap((path) => [path, ...unknownPaths([path])]);
  const lists = Array.from({ length: LISTS }, (_, index) =>
    queries.slice(PATHS * index, PATHS * (index + 1)),
  );
  const filter = PathFilter.parse(file);
  const fuseFilter = PathFilter.parse(fuse);
  const set = new Set(paths);
  const rival = bloomFilters.BloomFilter.from(paths, RATE);
  const plain = new PlainReader(decoder.decode(file));
  const freshList = (/** @type {string[]} */ list) =>
    list.map((path) => decoder.decode(encoder.encode(path)));
  const quick = methodsOf(freshList, {
    hedgerow: countOf((path) => filter.has(path)),
    "hedgerow, fuse": countOf((path) => fuseFilter.has(path)),
    "Set.has": countOf((path) => set.has(path)),
  });
  const slow = methodsOf(freshList, {
    "bloom-filters": countOf((path) => rival.has(path)),
    "plain JS reader": countOf((path) => plain.has(path)),
  });
  const timed = [
    ...(await measure(quick, lists, asking, PATHS)),
    ...(await measure(slow, lists.slice(0, 1), askingRivals, PATHS)),
  ];
  filter.free();
  fuseFilter.free();
  return timed;
}

/**
 * Returns a function that counts the present paths of a list. Each method gets a loop of its own, as in its users’
 * code; in a shared loop, the engine could not inline the call.
 *
 * @param {(path: string) => boolean} has
 * @returns {(paths: string[]) => number}
 */
function countOf(has) {
  return new Function(
    "has",
    "return (paths) => { let count = 0; for (const path of paths) if (has(path)) count += 1; return count; }",
  )(has);
}
