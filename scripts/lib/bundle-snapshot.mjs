// Embeds the worker scripts and the WebAssembly of `@hedgerow/snapshot` in its code, so that it works however it is
// bundled, and then bundles the entry points: importing hundreds of modules takes a process three times as long. Runs
// once after `tsc`, whose entry points it replaces.
import { readFileSync, writeFileSync } from "node:fs";

import { build } from "esbuild";

import { builtins } from "./builtins.mjs";
import { inRoot } from "./paths.mjs";

const folder = inRoot("js", "snapshot");

/** Bundles a worker into one string. @param {string} name */
async function scriptOf(name) {
  const { outputFiles } = await build({
    entryPoints: [`${folder}/dist/${name}/${name}-worker.js`],
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [builtins],
    // The name in stack traces, instead of the whole data: URL.
    footer: { js: `//# sourceURL=hedgerow-${name}-worker.js` },
    logLevel: "warning",
  });
  return `export const ${name.toUpperCase()}_WORKER = ${JSON.stringify(outputFiles[0]?.text)};\n`;
}

const scripts = await Promise.all(["decode", "delta", "encode", "fetch"].map(scriptOf));
writeFileSync(`${folder}/dist/workers/scripts.js`, scripts.join(""));

for (const name of ["decode", "encode"]) {
  const base64 = readFileSync(`${folder}/wasm/${name}_bg.wasm`).toString("base64");
  writeFileSync(`${folder}/dist/wasm/${name}-module.js`, `export default "${base64}";\n`);
}

// The modules stay beside the bundles, for tests and benchmarks of single ones; they are not published.
await build({
  entryPoints: ["index", "opentelemetry", "reader"].map((name) => `${folder}/dist/${name}.js`),
  outdir: `${folder}/dist`,
  chunkNames: "chunks/[name]-[hash]",
  allowOverwrite: true,
  bundle: true,
  // Modules that are imported on demand stay files of their own.
  splitting: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  plugins: [builtins],
  logLevel: "warning",
});
