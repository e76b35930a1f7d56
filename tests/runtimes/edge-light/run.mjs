// Runs programs in the edge-light VM. Like its hosts, this compiles modules and sets them as globals of the VM.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { EdgeVM } from "@edge-runtime/vm";

import { bundle } from "../bundle.mjs";

/** Returns the name of the global for a module. @param {string} path */
const globalOf = (path) => basename(path, ".wasm");

/** Resolves imports that end in `.wasm?module`, as Next.js does. @type {import("esbuild").Plugin} */
const wasmModules = {
  name: "wasm-modules",
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(/\?module$/, "")),
      namespace: "wasm",
    }));
    build.onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => ({
      contents: `export default ${globalOf(path)};`,
    }));
  },
};

/**
 * Runs a program in the VM.
 *
 * @param {import("../bundle.mjs").Program} program
 * @param {string[]} modules the paths of WebAssembly modules
 * @returns {Promise<import("../bundle.mjs").Outcome[]>}
 */
export async function runInEdgeLight(program, modules) {
  const { files } = await bundle("edge-light", program, {
    conditions: ["edge-light", "worker", "browser"],
    format: "iife",
    globalName: "program",
    plugins: [wasmModules],
  });
  const compiled = modules.map((path) => [
    globalOf(path),
    new WebAssembly.Module(readFileSync(path)),
  ]);
  const vm = new EdgeVM({
    // Its hosts forbid compiling bytes.
    codeGeneration: { strings: false, wasm: false },
    extend: (context) => Object.assign(context, Object.fromEntries(compiled)),
  });
  vm.evaluate(Buffer.from(files[0]?.contents ?? []).toString());
  // Passed as JSON, because objects of the VM have other prototypes.
  return JSON.parse(await vm.evaluate("program.outcomes.then(JSON.stringify)"));
}
