// Bundles a worker as Wrangler does and runs it in Miniflare on loopback.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

import { inRoot } from "./paths.mjs";

/** The compatibility date of workerd. */
export const COMPATIBILITY_DATE = "2026-04-01";

/** Options of all workers in Miniflare: on loopback, at any free port. */
export const LOCAL = {
  host: "127.0.0.1",
  port: 0,
  modulesRoot: ".",
  compatibilityDate: COMPATIBILITY_DATE,
  // Otherwise Miniflare fetches it over the network.
  cf: false,
};

/**
 * Resolves WebAssembly modules as Wrangler does: by the file extension of the import, relative or in a package.
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
 * Bundles a worker and leaves WebAssembly modules as files beside it.
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
    // Built into workerd.
    external: ["cloudflare:*"],
    plugins: [wasmByName],
    logLevel: "warning",
  });
  const modules = outputFiles.map(({ path, contents }) => {
    /** @type {"CompiledWasm" | "ESModule"} */
    const type = path.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path: basename(path), contents };
  });
  // workerd starts with the first module.
  return modules.sort((a, b) => b.type.localeCompare(a.type));
}

/**
 * Bundles and runs a worker.
 *
 * @param {string} entry from the root of the repository
 * @param {Record<string, import("miniflare").Json>} [bindings]
 */
export const startWorker = async (entry, bindings) => startModules(await bundle(entry), bindings);

/**
 * Runs a bundled worker.
 *
 * @param {import("miniflare").ModuleDefinition[]} modules with the entry first
 * @param {Record<string, import("miniflare").Json>} [bindings]
 */
export async function startModules(modules, bindings = {}) {
  const worker = new Miniflare({ ...LOCAL, modules, bindings });
  return { worker, url: await worker.ready };
}
