// Bundling the programs that run cases, with the package as it is published.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** This folder, whose packages have Hedgerow's tarball among them. */
export const SUITE = fileURLToPath(new URL(".", import.meta.url));

/** What is run: the cases, those of the slim entry, or in Node what its servers send. @typedef {"cases" | "slim" | "responses"} Program */

/** @typedef {import("./run-suites.js").Outcome} Outcome */

/** How long an engine may take for a program, in milliseconds, on a machine that does much else. */
export const PATIENCE = 120_000;

/**
 * Finds Hedgerow in the packages of this suite, whoever imports it: cases would get the source tree.
 *
 * @type {import("esbuild").Plugin}
 */
const packedPackage = {
  name: "packed-package",
  setup(build) {
    build.onResolve({ filter: /^hedgerow($|\/)/ }, ({ path, kind, pluginData }) =>
      pluginData === packedPackage
        ? undefined
        : build.resolve(path, { kind, resolveDir: SUITE, pluginData: packedPackage }),
    );
  },
};

/**
 * Bundles a program for an engine: the files, and what they were made of.
 *
 * @param {"process" | "workerd" | "edge-light" | "chromium"} engine
 * @param {Program} program
 * @param {import("esbuild").BuildOptions} options
 */
export async function bundle(engine, program, options) {
  const { outputFiles, metafile } = await build({
    format: "esm",
    ...options,
    absWorkingDir: inRoot(),
    entryPoints: [`tests/runtimes/${engine}/${program}.ts`],
    bundle: true,
    write: false,
    metafile: true,
    outdir: "bundle",
    target: "es2022",
    logLevel: "warning",
    plugins: [...(options.plugins ?? []), packedPackage],
  });
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  return { files, inputs: Object.keys(metafile.inputs) };
}
