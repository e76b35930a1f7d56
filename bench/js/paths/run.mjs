// The JavaScript suite of path filters on the Node that runs this. Prints its results as one JSON
// array.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import bloomFilters from "bloom-filters";
import { buildPathFilter, PathFilter, PathSet } from "hedgerow";
import { readPathFilterSync } from "hedgerow/node";

import { unknownPaths } from "../../../scripts/lib/installed-paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { measure } from "../measure.mjs";
import { SITE_PATHS as COUNT, sitePaths } from "../site-paths.mjs";
import { PlainReader } from "./plain-reader.mjs";

const engine = `paths-node${process.versions.node.split(".")[0]}`;
const paths = sitePaths(COUNT);
const json = JSON.stringify(paths);
const tree = JSON.stringify(treeOf(paths));
const file = buildPathFilter(paths);
const classic = buildPathFilter(paths, { sizing: "classic" });
const first = paths[COUNT >> 1] ?? "";

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
    // What a deployment says of a file beside its name.
    folder[name] = { type: "file", size: path.length, mode: 33188 };
  }
  return root;
}

/** @param {{ has(path: string): boolean, free(): void }} lookup */
function askOnce(lookup) {
  const isPresent = lookup.has(first);
  lookup.free();
  return isPresent;
}

function loading() {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
  const name = join(folder, "paths.filter");
  writeFileSync(name, file);
  const text = new TextDecoder().decode(file);
  const trusted = { validate: false };
  /** @param {Record<string, () => unknown>} ways */
  const methods = (ways) =>
    Object.entries(ways).map(([name, run]) => ({ name, make: () => undefined, run }));
  // Apart from those that parse JSON, which leave nothing of the caches.
  const light = methods({
    "hedgerow, trusted": () => askOnce(PathFilter.parse(file, trusted)),
    hedgerow: () => askOnce(PathFilter.parse(file)),
    "hedgerow, classic, trusted": () => askOnce(PathFilter.parse(classic, trusted)),
    "hedgerow, classic": () => askOnce(PathFilter.parse(classic)),
    "hedgerow, from a file, trusted": () => askOnce(readPathFilterSync(name, trusted)),
  });
  const heavy = methods({
    "plain JS reader": () => new PlainReader(text).has(first),
    "JSON.parse + Set": () => new Set(JSON.parse(json)).has(first),
    "JSON tree, parsed": () => JSON.parse(tree),
    PathSet: () => askOnce(PathSet.parse(json)),
  });
  const results = [
    ...measure(light, Array.from({ length: 200 }), 40),
    ...measure(heavy, Array.from({ length: 20 }), 25),
  ];
  rmSync(folder, { recursive: true });
  return results.map((timing) => ({
    suite: `${engine}-load`,
    workload: `${COUNT} paths`,
    unit: "ns",
    ...timing,
  }));
}

/** Queries of about 60 bytes, half of them absent, as strings that were never seen before. */
function asking() {
  const sixty = paths.filter((path) => path.length >= 50 && path.length <= 70);
  const queries = sixty.slice(0, 4096).flatMap((path) => [path, ...unknownPaths([path])]);
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const fresh = (/** @type {string} */ path) => decoder.decode(encoder.encode(path));
  const filter = PathFilter.parse(file);
  const set = new Set(paths);
  const rival = bloomFilters.BloomFilter.from(paths, 1e-7);
  const plain = new PlainReader(new TextDecoder().decode(file));
  /** Each way has a loop of its own, as its users would: one for all would be called for each path. */
  const ways = [
    { name: "hedgerow", count: countOf((/** @type {string} */ path) => filter.has(path)) },
    { name: "Set.has", count: countOf((/** @type {string} */ path) => set.has(path)) },
    { name: "bloom-filters", count: countOf((/** @type {string} */ path) => rival.has(path)) },
    { name: "plain JS reader", count: countOf((/** @type {string} */ path) => plain.has(path)) },
  ];
  const methods = ways.map(({ name, count }) => ({
    name,
    make: (/** @type {string[]} */ list) => list.map(fresh),
    run: count,
  }));
  const lists = Array.from({ length: 16 }, (_, index) =>
    queries.slice(512 * index, 512 * (index + 1)),
  );
  const results = [
    ...measure(methods.slice(0, 2), lists, 60),
    ...measure(methods.slice(2), lists.slice(0, 1), 10),
  ];
  filter.free();
  return results.map(({ method, ...times }) => ({
    suite: `${engine}-has`,
    workload: "60 bytes, half of them absent",
    unit: "ns",
    method,
    ...Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time / 512])),
  }));
}

/**
 * A function that counts how many of a list of paths are present, with code of its own.
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

function building() {
  const results = [];
  for (const count of [10_000, 100_000, 1_600_000]) {
    const all = Array.from({ length: count }, (_, index) => `/${index}${paths[index % COUNT]}`);
    const samples = [];
    for (let round = 0; round < 5; round += 1) {
      const start = process.hrtime.bigint();
      buildPathFilter(all);
      samples.push(Number(process.hrtime.bigint() - start) / count);
    }
    results.push({
      suite: `${engine}-build`,
      workload: `${count} paths`,
      method: "hedgerow",
      unit: "ns/path",
      ...summary(samples),
    });
  }
  return results;
}

const sizes = Object.entries({ hedgerow: file, "hedgerow, classic": classic, json, tree }).map(
  ([method, { length }]) => ({
    suite: `${engine}-size`,
    workload: `${COUNT} paths`,
    method,
    unit: "bytes",
    ...summary([length]),
  }),
);
console.log(JSON.stringify([...loading(), ...asking(), ...building(), ...sizes]));
