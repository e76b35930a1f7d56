// The packages whose first use is measured, each with its input.
import { build } from "esbuild";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { SIZES } from "./inputs.mjs";

/**
 * A package. `module` is a file in `subjects`, `input` the folder of its input.
 *
 * @typedef {{ name: string, module: string, input: keyof typeof SIZES, inWorkerd: boolean }} Subject
 */

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: "hedgerow", module: "hedgerow", input: "few", inWorkerd: true },
  { name: `hedgerow, ${SIZES.many}`, module: "hedgerow", input: "many", inWorkerd: true },
  { name: "xxhash-wasm", module: "xxhash-wasm", input: "few", inWorkerd: true },
  // It compiles WebAssembly from bytes, which workerd does not allow.
  { name: "es-module-lexer", module: "es-module-lexer", input: "few", inWorkerd: false },
  { name: "nothing", module: "nothing", input: "few", inWorkerd: true },
];

/** Returns the module of a subject, relative to the repository. @param {Subject} subject */
export const moduleOf = ({ module }) => `bench/suites/start/subjects/${module}.mjs`;

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
    logLevel: "warning",
  });
}
