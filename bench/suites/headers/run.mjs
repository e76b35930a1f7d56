// Strips headers in the Node that runs this.
import { HeaderStripper } from "hedgerow";

import {
  externalNames,
  internalNames,
  prefixRules,
  requests,
} from "../../../scripts/lib/corpus.mjs";
import { measure as measureMethods } from "../../harness/measure.mjs";
import { runNative } from "../../harness/programs.mjs";
import { itself, NODE, resultsOf } from "../../harness/results.mjs";
import { methods } from "./methods.mjs";

/** The methods that are measured with growing sets of rules. */
const GROWING = ["hedgerow", "tolowercase-set", "regexp", "plain-table"];

const SUITE = `headers-${NODE}`;
const UNIT = "ns/request";

/** Writes the first letter of each part of the names as a capital. @param {{ names: string[] }} request */
const capitalised = ({ names }) => ({
  names: names.map((name) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())),
});

/** @param {import("./suite.mjs").Plan} plan */
export async function measure({ rounds }) {
  const results = [];
  const rules = internalNames();
  const withPrefixes = new HeaderStripper([...rules, ...prefixRules()]);
  const allowing = new HeaderStripper(externalNames(), { mode: "keep" });
  const all = methods(rules, new HeaderStripper(rules), withPrefixes, allowing);
  for (const workload of /** @type {const} */ (["real", "uniform", "near"])) {
    for (const kind of /** @type {const} */ (["raw", "headers", "block"])) {
      const timed = await measureMethods(all[kind], requests(workload), rounds[kind]);
      const about = { suite: `${SUITE}-${kind}`, workload, unit: UNIT };
      results.push(...resultsOf(about, timed, itself));
    }
    // HTTP/1.1 peers mostly write names with capitals, which only a raw list keeps.
    const timed = await measureMethods(all.raw, requests(workload).map(capitalised), rounds.raw);
    const about = { suite: `${SUITE}-raw`, workload: `${workload}, capitals`, unit: UNIT };
    results.push(...resultsOf(about, timed, itself));
  }
  const growth = /** @type {import("./suite.mjs").Growth} */ (runNative("growth"));
  for (const { count } of growth.sets) {
    const some = growth.rules.slice(0, count);
    const stripper = new HeaderStripper(some);
    const growing = methods(some, stripper, stripper, stripper).raw.filter(({ name }) =>
      GROWING.includes(name),
    );
    const timed = await measureMethods(growing, requests("real"), rounds.growth);
    const about = { suite: `${SUITE}-growth`, workload: `${count} rules`, unit: UNIT };
    results.push(...resultsOf(about, timed, itself));
  }
  return results;
}
