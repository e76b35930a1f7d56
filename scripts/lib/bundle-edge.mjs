// Bundles the package `hedgerow`: all of it as one file for each way in which runtimes have WebAssembly,
// since they take their time for each file, and entries and adapters on top of that.
import { readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import { build } from "esbuild";

import { inRoot } from "./paths.mjs";
import { StepError } from "./run.mjs";

const edge = inRoot("js", "edge");
const src = `${edge}/src`;
const dist = `${edge}/dist`;

/** What entries pass on, each by itself. */
const REQUESTS = join("entries", "requests.ts");

/**
 * How runtimes have WebAssembly. Where its modules are files, what builds filters is apart: bundlers take
 * with them each module that anything refers to, used or not.
 *
 * @type {Record<string, { apart: boolean, load(name: string): import("esbuild").OnLoadResult }>}
 */
const WAYS = {
  base64: {
    apart: false,
    load: (name) => ({ contents: readFileSync(`${edge}/wasm/${name}_bg.wasm`), loader: "base64" }),
  },
  "edge-light": { apart: true, load: (name) => imported(`../../wasm/${name}_bg.wasm?module`) },
  workerd: { apart: true, load: (name) => imported(`../../wasm/${name}_bg.wasm`) },
};

/**
 * Bundlers know a module by the ending of what is imported, which a subpath does not have.
 *
 * @param {string} file
 * @returns {import("esbuild").OnLoadResult}
 */
const imported = (file) => ({ contents: `export { default } from ${JSON.stringify(file)};` });

/** Has WebAssembly in one way. @param {string} way @returns {import("esbuild").Plugin} */
const wasm = (way) => ({
  name: "wasm",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^wasm:/ }, ({ path }) => ({ path: path.slice(5), namespace: "wasm" }));
    onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => WAYS[way]?.load(path));
    onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path }) => ({ path, external: true }));
  },
});

/** What the glue of wasm-bindgen does when it is loaded, needed or not: then bundlers keep all of it. */
const EFFECTS = [/^if \(Symbol\.dispose\) .*;\n/gm, /^cachedTextDecoder\.decode\(\);\n/m];

/** Takes the effects out of the glue. @type {import("esbuild").Plugin} */
const glue = {
  name: "glue",
  setup({ onLoad }) {
    onLoad({ filter: /\/wasm\/(build|edge)\.js$/ }, ({ path }) => {
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
 * Leaves alone what is in another file.
 *
 * @param {(module: string) => string | undefined} fileOf where a module of `src` is, if elsewhere
 * @returns {import("esbuild").Plugin}
 */
const elsewhere = (fileOf) => ({
  name: "elsewhere",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, importer, resolveDir }) => {
      const module = relative(src, resolve(resolveDir, path)).replace(/\.js$/, ".ts");
      // What is generated lies beside `src`, and goes with what imports it.
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
  // What the package says of its files is said of these, not of their sources.
  ignoreAnnotations: true,
  pure: ["FinalizationRegistry", "RegExp", "TextDecoder", "TextEncoder"],
  logLevel: "warning",
};

/** Whether a module builds filters. @param {string} module */
const builds = (module) => module.startsWith(`build${sep}`);

for (const [way, { apart }] of Object.entries(WAYS)) {
  const bundle = (
    /** @type {string} */ name,
    /** @type {string} */ entry,
    /** @type {(module: string) => string | undefined} */ fileOf,
  ) =>
    build({
      ...settings,
      entryPoints: { [name]: `${src}/${entry}.ts` },
      outdir: `${dist}/${way}`,
      plugins: [elsewhere(fileOf), glue, wasm(way)],
    });
  if (!apart) {
    await bundle("hedgerow", "entries/bundle-with-build", () => undefined);
    continue;
  }
  const fileOf = (/** @type {string} */ module) =>
    builds(module) ? "./build.js" : "./hedgerow.js";
  await bundle("hedgerow", "entries/bundle", () => undefined);
  await bundle("build", "build/index", (module) => (builds(module) ? undefined : fileOf(module)));
  await bundle("main", "entries/main", (module) =>
    module === REQUESTS ? undefined : fileOf(module),
  );
}

/** What the package exports besides, by folders of `src`. @param {string} folder */
function exported(folder) {
  const { exports } = JSON.parse(readFileSync(`${edge}/package.json`, "utf8"));
  const files = Object.values(exports).map((target) => target.default ?? target);
  return files
    .filter((file) => file.startsWith(`./dist/${folder}/`))
    .map((file) => file.replace("./dist", src).replace(/\.js$/, ".ts"));
}

/** @param {string} module */
const isShared = (module) => module === REQUESTS || module.startsWith(`adapters${sep}`);

const slim = join(src, "entries", "slim.ts");
await build({
  ...settings,
  entryPoints: [...exported("adapters"), ...exported("entries").filter((file) => file !== slim)],
  outbase: src,
  outdir: dist,
  // What adapters share goes to each.
  plugins: [elsewhere((module) => (isShared(module) ? undefined : "#hedgerow"))],
});
await build({ ...settings, entryPoints: [slim], outbase: src, outdir: dist, plugins: [glue] });
