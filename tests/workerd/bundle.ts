import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { WorkerOptions } from "miniflare";

/** A module of a worker, as Miniflare takes it. */
type Module = Extract<NonNullable<WorkerOptions["modules"]>, unknown[]>[number];

/** Bundles a worker as Wrangler does: WebAssembly stays a module of its own. */
export async function bundle(entry: URL): Promise<Module[]> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    outdir: "/",
  });
  const modules = outputFiles.map(({ path, contents }): Module => {
    return { type: path.endsWith(".wasm") ? "CompiledWasm" : "ESModule", path, contents };
  });
  // Workerd begins with the first one.
  return modules.sort((a, b) => b.type.localeCompare(a.type));
}
