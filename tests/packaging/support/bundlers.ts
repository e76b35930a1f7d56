/** The bundlers, run by their own command lines. */
import { run, tool } from "./tool.js";

/** Bundles `script` into `output`, both in `folder`. */
export type Bundler = (folder: string, script: string, output: string) => Promise<unknown>;

const esbuild =
  (...args: string[]): Bundler =>
  (folder, script, output) =>
    run(folder, tool("esbuild"), script, "--bundle", `--outfile=${output}`, ...args);

const webpack =
  (target: string): Bundler =>
  (folder, script, output) =>
    run(
      folder,
      tool("webpack"),
      ...["--entry", `./${script}`, "--mode", "production"],
      ...[...["--target", target, "--output-path", ".", "--output-filename", output]],
    );

const rollup =
  (plugin: string): Bundler =>
  (folder, script, output) =>
    run(folder, tool("rollup"), script, "--format", "es", "--plugin", plugin, "--file", output);

/** Bundlers for Node. The extension of the output gives the module format. */
export const nodeBundlers: [name: string, output: string, bundler: Bundler][] = [
  ["esbuild, a module", "server.mjs", esbuild("--platform=node", "--format=esm")],
  ["esbuild, CommonJS", "bundled.cjs", esbuild("--platform=node", "--format=cjs")],
  ["webpack", "bundled.cjs", webpack("node20")],
  ["Rollup", "server.mjs", rollup("node-resolve")],
];

/** Bundlers for browsers. */
export const browserBundlers: [name: string, bundler: Bundler][] = [
  ["esbuild", esbuild("--format=esm", "--minify")],
  ["webpack", webpack("web")],
  ["Rollup", rollup("node-resolve={browser:true}")],
];
