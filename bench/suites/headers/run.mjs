// Strips headers in the Node that runs this: `run.mjs PLAN RULES` with the plan as JSON and a file of the rules of growing
// sets. Prints its results as a JSON array.
import { readFileSync } from "node:fs";

import { HeaderStripper } from "hedgerow";

import { internalNames, prefixRules, requests } from "../../../scripts/lib/corpus.mjs";
import { measure } from "../../harness/measure.mjs";
import { methods } from "./methods.mjs";

/** The methods that are measured with growing sets of rules. */
const GROWING = ["hedgerow", "tolowercase-set", "regexp", "plain-table"];

const [, , plan = "", growth = ""] = process.argv;
/** @type {import("./suite.mjs").Plan} */
const { rounds } = JSON.parse(plan);
const rules = internalNames();
const stripper = new HeaderStripper(rules);
const all = methods(rules, stripper, new HeaderStripper([...rules, ...prefixRules()]));
const suite = `headers-node${process.versions.node.split(".")[0]}`;

const results = /** @type {const} */ (["real", "uniform", "near"]).flatMap((workload) =>
  /** @type {const} */ (["raw", "headers", "block"]).flatMap((kind) =>
    measure(/** @type {any[]} */ (all[kind]), requests(workload), rounds[kind]).map((timing) => ({
      suite: `${suite}-${kind}`,
      workload,
      ...timing,
      unit: "ns/request",
    })),
  ),
);
console.log(JSON.stringify([...results, ...growing()]));

/** Strips the workload `real` with growing sets of rules. */
function growing() {
  /** @type {{ counts: number[], rules: string[] }} */
  const { counts, rules: growthRules } = JSON.parse(readFileSync(growth, "utf8"));
  return counts.flatMap((count) => {
    const some = growthRules.slice(0, count);
    const someStripper = new HeaderStripper(some);
    const { raw } = methods(some, someStripper, someStripper);
    const growingMethods = raw.filter(({ name }) => GROWING.includes(name));
    return measure(/** @type {any[]} */ (growingMethods), requests("real"), rounds.growth).map(
      (timing) => ({
        suite: `${suite}-growth`,
        workload: `${count} rules`,
        ...timing,
        unit: "ns/request",
      }),
    );
  });
}
