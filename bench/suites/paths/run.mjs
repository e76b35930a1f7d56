// Measures path filters in the Node that runs this: `run.mjs PLAN` with the plan as JSON. Prints its results as a JSON
// array.
import { summary } from "../../../scripts/lib/summary.mjs";
import { SITE_PATHS } from "../../harness/site-paths.mjs";
import { measureAsking } from "./asking.mjs";
import { measureBuilding } from "./building.mjs";
import { measureLoading } from "./loading.mjs";
import { SITES } from "./plan.mjs";
import { makeSite } from "./site.mjs";

/** @type {import("./plan.mjs").Plan} */
const plan = JSON.parse(process.argv[2] ?? "");
const engine = `paths-node${process.versions.node.split(".")[0]}`;
const results = [];
for (const count of SITES) {
  const site = makeSite(count);
  const workload = `${count} paths`;
  for (const timing of measureLoading(site, plan)) {
    results.push({ suite: `${engine}-load`, workload, unit: "ns", ...timing });
  }
  for (const [method, bytes] of Object.entries(sizesOf(site))) {
    results.push({ suite: `${engine}-size`, workload, method, unit: "bytes", ...summary([bytes]) });
  }
  if (count !== SITE_PATHS) continue;
  for (const timing of measureAsking(site, plan)) {
    const queries = "60 bytes, half of them absent";
    results.push({ suite: `${engine}-has`, workload: queries, unit: "ns", ...timing });
  }
  for (const timing of measureBuilding(site, plan)) {
    results.push({ suite: `${engine}-build`, method: "hedgerow", unit: "ns/path", ...timing });
  }
}
console.log(JSON.stringify(results));

/** @param {import("./site.mjs").Site} site */
function sizesOf({ file, classic, json, tree }) {
  return {
    hedgerow: file.length,
    "hedgerow, classic": classic.length,
    json: Buffer.byteLength(json),
    tree: Buffer.byteLength(tree),
  };
}
