// Measures path filters in the Node that runs this: sites of several sizes are loaded, and one is queried and built.
import { buildPathFilter } from "hedgerow";
import { itself, NODE, result, resultsOf } from "../../harness/results.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";
import { measureAsking } from "./asking.mjs";
import { measureLoading } from "./loading.mjs";

const SITES = [1000, 10_000, SITE_PATHS, 100_000];

/** Numbers of paths for which filters are built. */
const BUILT = [10_000, 100_000, 1_600_000];

/** The kinds of filter, and their names in records. @type {[string, "bloom" | "fuse"][]} */
const KINDS = [
  ["hedgerow", "bloom"],
  ["hedgerow, fuse", "fuse"],
];

/** A site: its paths as filters and as JSON. @typedef {ReturnType<typeof makeSite>} Site */

/** @param {import("./suite.mjs").Plan} plan */
export async function measure(plan) {
  const results = [];
  for (const count of SITES) {
    const site = makeSite(count);
    const workload = `${count} paths`;
    const loading = { suite: `paths-${NODE}-load`, workload, unit: "ns" };
    results.push(...resultsOf(loading, await measureLoading(site, plan), itself));
    const size = { suite: `paths-${NODE}-size`, workload, unit: "bytes" };
    results.push(
      result(size, "hedgerow", [site.file.length]),
      result(size, "hedgerow, classic", [site.classic.length]),
      result(size, "hedgerow, fuse", [site.fuse.length]),
      result(size, "json", [Buffer.byteLength(site.json)]),
      result(size, "tree", [Buffer.byteLength(site.tree)]),
    );
    if (count !== SITE_PATHS) continue;
    const asking = { workload: "60 bytes, half of them absent", unit: "ns" };
    const asked = await measureAsking(site, plan);
    results.push(...resultsOf({ suite: `paths-${NODE}-has`, ...asking }, asked, itself));
    results.push(...BUILT.flatMap((built) => measureBuilding(built, site, plan)));
  }
  return results;
}

/** @param {number} count */
function makeSite(count) {
  const paths = sitePaths(count);
  return {
    count,
    paths,
    json: JSON.stringify(paths),
    tree: JSON.stringify(treeOf(paths)),
    file: buildPathFilter(paths),
    classic: buildPathFilter(paths, { sizing: "classic" }),
    fuse: buildPathFilter(paths, { kind: "fuse" }),
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

/** @param {number} count @param {Site} site @param {import("./suite.mjs").Plan} plan */
function measureBuilding(count, { paths }, { builds }) {
  const all = Array.from(
    { length: count },
    (_, index) => `/${index}${paths[index % paths.length]}`,
  );
  const about = { suite: `paths-${NODE}-build`, workload: `${count} paths`, unit: "ns/path" };
  return KINDS.map(([method, kind]) => {
    const samples = [];
    for (let round = 0; round < builds; round += 1) {
      const start = process.hrtime.bigint();
      buildPathFilter(all, { kind });
      samples.push(Number(process.hrtime.bigint() - start) / count);
    }
    return result(about, method, samples);
  });
}
