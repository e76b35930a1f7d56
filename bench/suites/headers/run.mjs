// Strips headers in the engine that runs this.
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
import { CASES, methods, WORKLOADS, writtenAs } from "./methods.mjs";
import { measureSeeded } from "./seeded.mjs";

/** The methods that are measured with growing sets of rules. */
const GROWING = ["hedgerow", "tolowercase-set", "regexp", "plain-table"];

/** The number of workloads from seeds. */
const SEEDS = 20;

const SUITE = `headers-${NODE}`;
const UNIT = "ns/request";

/** Measures what the plan has rounds for. @param {Pick<import("./suite.mjs").Plan, "rounds">} plan */
export async function measure({ rounds }) {
  const results = [];
  const rules = internalNames();
  const withPrefixes = new HeaderStripper([...rules, ...prefixRules()]);
  const allowing = new HeaderStripper(externalNames(), { mode: "keep" });
  const all = methods(rules, new HeaderStripper(rules), withPrefixes, allowing);
  for (const name of WORKLOADS) {
    for (const kind of /** @type {const} */ (["raw", "headers", "block"])) {
      if (rounds[kind] === undefined) continue;
      for (const written of CASES[kind]) {
        const inputs = requests(name).map(writtenAs[written]);
        const timed = await measureMethods(all[kind], inputs, rounds[kind]);
        const about = { suite: `${SUITE}-${kind}`, workload: `${name}${written}`, unit: UNIT };
        results.push(...resultsOf(about, timed, itself));
      }
    }
  }
  if (rounds.seeded !== undefined) {
    const about = { suite: `${SUITE}-seeded`, unit: UNIT };
    results.push(...(await measureSeeded(about, SEEDS, rounds.seeded)));
  }
  if (rounds.growth === undefined) return results;
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
