// Bundles the package `hedgerow` into one file for each way in which runtimes load WebAssembly, because every file
// costs start-up time, plus small entries and adapters.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import { build } from "esbuild";

import { inRoot } from "./paths.mjs";
import { StepError } from "./run.mjs";

const edge = inRoot("js", "edge");
const src = `${edge}/src`;
const dist = `${edge}/dist`;

/** The module that entries re-export. */
const REQUESTS = join("entries", "requests.ts");

/** Names of the WebAssembly modules. */
const MODULES = ["paths", "block", "build"];

/** Suffixes of the imports by which bundlers recognise a module. @type {Record<string, string>} */
const IMPORTED = { "edge-light": ".wasm?module", workerd: ".wasm" };

/** Loads WebAssembly as Base64. @type {import("esbuild").Plugin} */
const embedded = {
  name: "embedded",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^wasm:/ }, ({ path }) => ({ path: path.slice(5), namespace: "wasm" }));
    onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => {
      return { contents: readFileSync(`${edge}/wasm/${path}_bg.wasm`), loader: "base64" };
    });
  },
};

/**
 * Imports WebAssembly through files of its own, which bundlers leave out with the module if they are not used.
 *
 * @type {import("esbuild").Plugin}
 */
const imported = {
  name: "imported",
  setup({ onResolve }) {
    onResolve({ filter: /^wasm:/ }, ({ path }) => {
      return { path: `./wasm/${path.slice(5)}.js`, external: true, sideEffects: false };
    });
  },
};

/** Leaves WebAssembly to the caller of `instantiate`. @type {import("esbuild").Plugin} */
const passed = {
  name: "passed",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^wasm:/ }, ({ path }) => ({ path, namespace: "wasm" }));
    onLoad({ filter: /./, namespace: "wasm" }, () => ({ contents: "export default undefined" }));
  },
};

/** Side effects of the wasm-bindgen glue at import, which keep bundlers from tree-shaking it. */
const EFFECTS = [/^if \(Symbol\.dispose\) .*;\n/gm, /^cachedTextDecoder\.decode\(\);\n/m];

/** Removes these side effects from the glue. @type {import("esbuild").Plugin} */
const glue = {
  name: "glue",
  setup({ onLoad }) {
    onLoad({ filter: /\/wasm\/build\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const effect of EFFECTS) {
        if (contents.search(effect) < 0) throw new StepError(`${path}: expected ${effect}`);
        contents = contents.replace(effect, "");
      }
      return { contents };
    });
  },
};

/**
 * Keeps imports of modules that are bundled into another file.
 *
 * @param {(module: string) => string | undefined} fileOf the file that contains a module of `src`, if another
 * @returns {import("esbuild").Plugin}
 */
const elsewhere = (fileOf) => ({
  name: "elsewhere",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, importer, resolveDir }) => {
      const module = relative(src, resolve(resolveDir, path)).replace(/\.js$/, ".ts");
      // Generated modules lie beside `src` and are bundled with their importer.
      const file = importer === "" || module.startsWith("..") ? undefined : fileOf(module);
      return file === undefined ? undefined : { path: file, external: true };
    });
  },
});

/** @type {import("esbuild").BuildOptions} */
const settings = {
  bundle: true,
  format: "esm",
  target: "es2022",
  external: ["node:*", "next"],
  pure: ["FinalizationRegistry", "RegExp", "TextDecoder", "TextEncoder"],
  logLevel: "warning",
};

/** Returns a function that tells whether a module lies in a folder of `src`. @param {string} folder */
const isIn = (folder) => (/** @type {string} */ module) => module.startsWith(`${folder}${sep}`);

const builds = isIn("build");
const stripsBlocks = isIn("block");

/**
 * Bundles a module of `src` for a way to load WebAssembly.
 *
 * @param {string} way
 * @param {string} name of the file
 * @param {string} entry
 * @param {(module: string) => string | undefined} [fileOf] the file that contains a module, if another
 */
const bundle = (way, name, entry, fileOf = () => undefined) =>
  build({
    ...settings,
    entryPoints: { [name]: `${src}/${entry}.ts` },
    outdir: `${dist}/${way}`,
    plugins: [elsewhere(fileOf), glue, way in IMPORTED ? imported : embedded],
  });

for (const way of ["base64", ...Object.keys(IMPORTED)]) {
  await bundle(way, "block", "block/strip-block", (module) =>
    stripsBlocks(module) ? undefined : "./hedgerow.js",
  );
}
await bundle("base64", "hedgerow", "entries/bundle-with-build");
// Where modules are files, the builder of filters is a separate file: bundlers include every referenced module, used
// or not.
for (const [way, suffix] of Object.entries(IMPORTED)) {
  mkdirSync(`${dist}/${way}/wasm`, { recursive: true });
  for (const name of MODULES) {
    const code = `export { default } from "../../../wasm/${name}_bg${suffix}";\n`;
    writeFileSync(`${dist}/${way}/wasm/${name}.js`, code);
  }
  const fileOf = (/** @type {string} */ module) =>
    builds(module) ? "./build.js" : "./hedgerow.js";
  await bundle(way, "hedgerow", "entries/bundle");
  await bundle(way, "build", "build/index", (module) =>
    builds(module) ? undefined : fileOf(module),
  );
  await bundle(way, "main", "entries/main", (module) =>
    module === REQUESTS ? undefined : fileOf(module),
  );
}

/** The other exports of the package, by folder of `src`. @param {string} folder */
function exported(folder) {
  const { exports } = JSON.parse(readFileSync(`${edge}/package.json`, "utf8"));
  const files = Object.values(exports).map((target) => target.default ?? target);
  return files
    .filter((file) => file.startsWith(`./dist/${folder}/`))
    .map((file) => file.replace("./dist", src).replace(/\.js$/, ".ts"));
}

/** @param {string} module */
const isShared = (module) => module === REQUESTS || isIn("adapters")(module);

const slim = join(src, "entries", "slim.ts");
await build({
  ...settings,
  entryPoints: [...exported("adapters"), ...exported("entries").filter((file) => file !== slim)],
  outbase: src,
  outdir: dist,
  // Code shared by adapters is copied into each.
  plugins: [elsewhere((module) => (isShared(module) ? undefined : "#hedgerow"))],
});
await build({
  ...settings,
  entryPoints: [slim],
  outbase: src,
  outdir: dist,
  plugins: [passed],
});
