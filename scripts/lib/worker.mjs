// Bundling a worker as Wrangler does, and running it in Miniflare on loopback.
import { basename } from "node:path";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

import { inRoot } from "./paths.mjs";

/** The date whose behaviour of workerd is asked for. */
export const COMPATIBILITY_DATE = "2026-04-01";

/**
 * Bundles a worker; WebAssembly modules stay files beside it.
 *
 * @param {string} entry from the root of the repository
 */
async function bundle(entry) {
  const { outputFiles } = await build({
    absWorkingDir: inRoot(),
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: "worker",
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    logLevel: "warning",
  });
  return outputFiles.map(({ path, contents }) => {
    /** @type {"CompiledWasm" | "ESModule"} */
    const type = path.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path: basename(path), contents };
  });
}

/**
 * Runs a worker.
 *
 * @param {string} entry from the root of the repository
 * @param {Record<string, import("miniflare").Json>} bindings
 */
export async function startWorker(entry, bindings) {
  const modules = await bundle(entry);
  const worker = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    // The entry comes first.
    modules: modules.sort((a, b) => a.type.localeCompare(b.type)).reverse(),
    modulesRoot: ".",
    bindings,
    compatibilityDate: COMPATIBILITY_DATE,
  });
  return { worker, url: await worker.ready };
}
