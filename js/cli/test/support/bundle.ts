/** Modules of the CLI for processes that tests start: the published package is one program. */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

/** Bundles a module of `js/cli/src` into a folder. Returns its URL. */
export function bundleModule(path: string, folder: string): string {
  const outfile = join(folder, "module.cjs");
  buildSync({
    entryPoints: [fileURLToPath(new URL(`../../src/${path}`, import.meta.url))],
    bundle: true,
    // A dependency calls `require`.
    format: "cjs",
    platform: "node",
    outfile,
  });
  return pathToFileURL(outfile).href;
}
