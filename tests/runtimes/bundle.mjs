// Bundles the programs that run cases, with the packed package.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** This folder, whose packages include the tarball of Hedgerow. */
export const SUITE = fileURLToPath(new URL(".", import.meta.url));

/**
 * The cases, those of the slim entry, or those of responses of Node's servers.
 *
 * @typedef {"cases" | "slim" | "responses"} Program
 */

/** @typedef {import("./run-suites.js").Outcome} Outcome */

/** Timeout of a program, in milliseconds, which also suffices on a busy machine. */
export const PROGRAM_TIMEOUT = 120_000;

/**
 * Resolves Hedgerow in the packages of this suite for every importer. Cases would otherwise resolve the source tree.
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
 * Bundles a program for an engine. Returns the files and the paths of their inputs.
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
