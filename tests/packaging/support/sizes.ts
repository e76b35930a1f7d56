/** Sizes of bundles in bytes, raw and with each file compressed. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

import { emptyFolder } from "./project.js";

export interface Size {
  readonly raw: number;
  readonly gzip: number;
}

export const compressed = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }).length;

/** Returns the total size of files. */
export function sizeOf(files: readonly Uint8Array[]): Size {
  const sum = (sizes: number[]) => sizes.reduce((a, b) => a + b, 0);
  return { raw: sum(files.map(({ length }) => length)), gzip: sum(files.map(compressed)) };
}

/**
 * Bundles and minifies code for a runtime.
 *
 * @param condition the one by which the runtime resolves its WebAssembly
 */
export async function bundled(code: string, condition: string): Promise<Uint8Array[]> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: emptyFolder() },
    bundle: true,
    minify: true,
    write: false,
    outdir: "out",
    format: "esm",
    target: "es2022",
    conditions: [condition],
    external: ["next", "node:*"],
    loader: { ".wasm": "copy" },
    logLevel: "silent",
  });
  return outputFiles.map(({ contents }) => contents);
}
