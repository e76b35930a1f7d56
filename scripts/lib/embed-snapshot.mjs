// Puts what `@hedgerow/snapshot` would otherwise read from files into its code: the scripts of its
// threads, and its WebAssembly. So it works wherever a bundler puts it.
import { readFileSync, rmSync, writeFileSync } from "node:fs";

import { build } from "esbuild";

import { inRoot } from "./paths.mjs";

const folder = inRoot("js", "snapshot");

/** A worker with all that it imports, as one text. It goes: nothing loads it as a file. @param {string} name */
async function scriptOf(name) {
  const file = `${folder}/dist/${name}/${name}-worker.js`;
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    // What traces of errors call it, in place of all of the text.
    footer: { js: `//# sourceURL=hedgerow-${name}-worker.js` },
    logLevel: "warning",
  });
  rmSync(file);
  return `export const ${name.toUpperCase()}_WORKER = ${JSON.stringify(outputFiles[0]?.text)};\n`;
}

const scripts = await Promise.all(["decode", "encode", "fetch"].map(scriptOf));
writeFileSync(`${folder}/dist/workers/scripts.js`, scripts.join(""));

for (const name of ["decode", "encode"]) {
  const base64 = readFileSync(`${folder}/wasm/${name}_bg.wasm`).toString("base64");
  writeFileSync(`${folder}/dist/wasm/${name}-module.js`, `export default "${base64}";\n`);
}
