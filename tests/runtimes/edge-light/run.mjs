// The edge-light VM, with what its hosts do: they compile modules, and set them as globals of the VM.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { EdgeVM } from "@edge-runtime/vm";

import { bundle } from "../bundle.mjs";

/** The name of the global that has a module. @param {string} path */
const globalOf = (path) => basename(path, ".wasm");

/** Finds modules as Next.js does: by the question of what is imported. @type {import("esbuild").Plugin} */
const wasmByQuestion = {
  name: "wasm-by-question",
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
 * Runs a program.
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
    plugins: [wasmByQuestion],
  });
  const compiled = modules.map((path) => [
    globalOf(path),
    new WebAssembly.Module(readFileSync(path)),
  ]);
  const vm = new EdgeVM({
    // Where it is hosted, bytes cannot be compiled.
    codeGeneration: { strings: false, wasm: false },
    extend: (context) => Object.assign(context, Object.fromEntries(compiled)),
  });
  vm.evaluate(Buffer.from(files[0]?.contents ?? []).toString());
  // As text: objects of the VM have other prototypes.
  return JSON.parse(await vm.evaluate("program.outcomes.then(JSON.stringify)"));
}
