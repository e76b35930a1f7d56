// Writes the inputs of first uses: few or many rules and paths.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildPathFilter } from "hedgerow";

import { internalNames, prefixRules } from "../../../scripts/lib/corpus.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";
import { FILES } from "./input.mjs";

/** Eight names and two prefixes. */
const FEW_RULES = [...internalNames().slice(0, 8), ...prefixRules().slice(0, 2)];

/** By the name of their folder. */
const INPUTS = {
  few: { rules: FEW_RULES, paths: 1000 },
  many: { rules: internalNames(), paths: SITE_PATHS },
};

/** The names of inputs in results. */
export const SIZES = {
  few: sizeOf(INPUTS.few),
  many: sizeOf(INPUTS.many),
};

/** @param {{ rules: string[], paths: number }} input */
function sizeOf({ rules, paths }) {
  return `${rules.length} rules, ${paths.toLocaleString("en")} paths`;
}

/** Writes all inputs, each to a folder of its own. @param {string} folder */
export function writeInputs(folder) {
  for (const [name, { rules, paths }] of Object.entries(INPUTS)) {
    const chosen = sitePaths(paths);
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, FILES.filter), buildPathFilter(chosen));
    // A matching name in another case is looked up in WebAssembly; a present path has all its bits checked.
    const rest = { rules, header: rules[0]?.toUpperCase(), path: chosen[paths >> 1] };
    writeFileSync(join(folder, name, FILES.rest), JSON.stringify(rest));
  }
}
