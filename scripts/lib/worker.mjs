// Bundling a worker as Wrangler does, and running it in Miniflare on loopback.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

import { inRoot } from "./paths.mjs";

/** The date whose behaviour of workerd is asked for. */
export const COMPATIBILITY_DATE = "2026-04-01";

/**
 * Finds WebAssembly modules as Wrangler does: by the ending of what is imported, as it is written, or in the
 * package that it names.
 *
 * @type {import("esbuild").Plugin}
 */
const wasmByName = {
  name: "wasm-by-name",
  setup(build) {
    build.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => ({
      path: path.startsWith(".")
        ? resolve(resolveDir, path)
        : createRequire(join(resolveDir, "entry.js")).resolve(path),
      namespace: "wasm",
    }));
    build.onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => ({
      contents: readFileSync(path),
      loader: "copy",
    }));
  },
};

/**
 * Bundles a worker; WebAssembly modules stay files beside it.
 *
 * @param {string} entry from the root of the repository
 */
export async function bundle(entry) {
  const { outputFiles } = await build({
    absWorkingDir: inRoot(),
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: "worker",
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    // What workerd has built in.
    external: ["cloudflare:*"],
    plugins: [wasmByName],
    logLevel: "warning",
  });
  const modules = outputFiles.map(({ path, contents }) => {
    /** @type {"CompiledWasm" | "ESModule"} */
    const type = path.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path: basename(path), contents };
  });
  // workerd begins with the first one.
  return modules.sort((a, b) => b.type.localeCompare(a.type));
}

/**
 * Bundles a worker, and runs it.
 *
 * @param {string} entry from the root of the repository
 * @param {Record<string, import("miniflare").Json>} [bindings]
 */
export const startWorker = async (entry, bindings) => startModules(await bundle(entry), bindings);

/**
 * Runs a worker that is bundled.
 *
 * @param {import("miniflare").ModuleDefinition[]} modules the one to begin with first
 * @param {Record<string, import("miniflare").Json>} [bindings]
 */
export async function startModules(modules, bindings = {}) {
  const worker = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    modules,
    modulesRoot: ".",
    bindings,
    compatibilityDate: COMPATIBILITY_DATE,
    // Else Miniflare asks the network where it is.
    cf: false,
  });
  return { worker, url: await worker.ready };
}
