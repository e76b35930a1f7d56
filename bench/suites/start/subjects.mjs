// The packages whose first use is measured, and their inputs: few or many rules and paths.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";
import { buildPathFilter } from "hedgerow";

import { internalNames, prefixRules } from "../../../scripts/lib/corpus.mjs";
import { inRoot } from "../../../scripts/lib/paths.mjs";
import { SITE_PATHS, sitePaths } from "../../harness/site-paths.mjs";

/** @typedef {{ rules: string[], header: string, filter: Uint8Array, path: string }} Input */

/** The files of an input, as `first-use.mjs` reads them: a filter, and everything else as JSON. */
export const FILES = { filter: "paths.filter", rest: "input.json" };

/** Eight names and two prefixes. */
const FEW_RULES = [...internalNames().slice(0, 8), ...prefixRules().slice(0, 2)];

/** By the name of their folder. */
const INPUTS = {
  few: { rules: FEW_RULES, paths: 1000 },
  many: { rules: internalNames(), paths: SITE_PATHS },
};

const MANY = `${INPUTS.many.rules.length} rules, ${SITE_PATHS.toLocaleString("en")} paths`;

/**
 * A package. `module` is a file in `subjects`, `input` the folder of its input.
 *
 * @typedef {{ name: string, module: string, input: keyof typeof INPUTS, inWorkerd: boolean }} Subject
 */

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: "hedgerow", module: "hedgerow", input: "few", inWorkerd: true },
  { name: `hedgerow, ${MANY}`, module: "hedgerow", input: "many", inWorkerd: true },
  { name: "xxhash-wasm", module: "xxhash-wasm", input: "few", inWorkerd: true },
  // It compiles WebAssembly from bytes, which workerd does not allow.
  { name: "es-module-lexer", module: "es-module-lexer", input: "few", inWorkerd: false },
  // It needs Node.
  { name: "@hedgerow/snapshot", module: "snapshot", input: "few", inWorkerd: false },
  { name: "nothing", module: "nothing", input: "few", inWorkerd: true },
];

/** Returns the module of a subject, relative to the repository. @param {Subject} subject */
export const moduleOf = ({ module }) => `bench/suites/start/subjects/${module}.mjs`;

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

/** Bundles subjects for Node, each into a file with its module’s name. @param {string} folder */
export async function bundleSubjects(folder) {
  await build({
    absWorkingDir: inRoot(),
    entryPoints: [...new Set(SUBJECTS.map(moduleOf))],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    // Loaded on demand, by none of the subjects.
    external: ["@aws-sdk/*", "koffi"],
    logLevel: "warning",
  });
}
