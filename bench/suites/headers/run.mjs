// The JavaScript suite on the Node that runs this: `run.mjs PLAN RULES`, the plan as JSON, and a file that has the
// rules of growing sets. Prints its results as one JSON array.
import { readFileSync } from "node:fs";

import { HeaderStripper } from "hedgerow";

import { internalNames, prefixRules, requests } from "../../../scripts/lib/corpus.mjs";
import { measure } from "../../harness/measure.mjs";
import { methods } from "./methods.mjs";

/** The methods that are measured with more and more rules. */
const GROWING = ["hedgerow", "tolowercase-set", "regexp", "plain-table"];

const [, , plan = "", growth = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const { rounds } = JSON.parse(plan);
const rules = internalNames();
const stripper = new HeaderStripper(rules);
const ways = methods(rules, stripper, new HeaderStripper([...rules, ...prefixRules()]));
const suite = `headers-node${process.versions.node.split(".")[0]}`;

const results = ["real", "uniform", "near"].flatMap((workload) =>
  /** @type {const} */ (["raw", "headers", "block"]).flatMap((kind) =>
    measure(/** @type {any[]} */ (ways[kind]), requests(workload), rounds[kind]).map((timing) => ({
      suite: `${suite}-${kind}`,
      workload,
      ...timing,
      unit: "ns/request",
    })),
  ),
);
console.log(JSON.stringify([...results, ...growing()]));

/** Stripping real requests by more and more rules. */
function growing() {
  /** @type {{ counts: number[], rules: string[] }} */
  const { counts, rules: all } = JSON.parse(readFileSync(growth, "utf8"));
  return counts.flatMap((count) => {
    const some = all.slice(0, count);
    const own = new HeaderStripper(some);
    const { raw } = methods(some, own, own);
    const growingOnes = raw.filter(({ name }) => GROWING.includes(name));
    return measure(/** @type {any[]} */ (growingOnes), requests("real"), rounds.growth).map(
      (timing) => ({
        suite: `${suite}-growth`,
        workload: `${count} rules`,
        ...timing,
        unit: "ns/request",
      }),
    );
  });
}
