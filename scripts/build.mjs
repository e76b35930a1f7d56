// Builds the WebAssembly modules and the JavaScript packages.
import { rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { inRoot } from "./lib/paths.mjs";
import { listFiles, main, output, run, step } from "./lib/run.mjs";
import { whenChanged } from "./lib/stamp.mjs";
import { buildTools } from "./lib/tools.mjs";
import { buildModule } from "./lib/wasm.mjs";
import { wideContainers, zstdEnv } from "./lib/zstd.mjs";
import { setup } from "./setup.mjs";

export function build() {
  buildWasm({
    crate: "edge-wasm",
    package: "js/edge",
    modules: ["paths", "block", "build"],
    inputs: ["crates/headers/examples", ...sourcesOf("headers"), ...sourcesOf("paths")],
    libraries: "core,alloc",
    env: () => ({ CARGO_PROFILE_RELEASE_OPT_LEVEL: "2" }),
    smallest: ["paths"],
    generate: (folder) => {
      writeFileSync(`${folder}/compiled.d.ts`, COMPILED);
      writePresets(`${folder}/presets`);
      writeFieldNames(`${folder}/field-names`);
    },
  });
  const edgeInputs = [
    ...wasmOf("js/edge", "paths", "block", "build"),
    "js/edge/wasm/presets.js",
    "js/edge/wasm/field-names.js",
  ];
  // tsc emits only types here.
  buildPackage("js/edge", [...edgeInputs, "js/edge/package.json"], "bundle-edge.mjs");
  buildWasm({
    crate: "snapshot-wasm",
    package: "js/snapshot",
    modules: ["decode", "encode"],
    inputs: ["scripts/lib/zstd.mjs", ...sourcesOf("snapshot")],
    libraries: "std,panic_abort",
    env: (name) => zstdEnv(name === "decode" ? wideContainers("crates/snapshot-wasm") : []),
  });
  const builtins = "scripts/lib/builtins.mjs";
  const snapshotInputs = [...wasmOf("js/snapshot", "decode", "encode"), builtins];
  buildPackage("js/snapshot", snapshotInputs, "bundle-snapshot.mjs");
  buildPackage("js/fleet", ["js/snapshot/dist"]);
  const packages = ["js/edge/dist", "js/snapshot/dist", "js/fleet/dist"];
  const cliInputs = [...packages, "scripts/lib/man-pages.mjs", builtins];
  buildPackage("js/cli", cliInputs, "bundle-cli.mjs");
  buildPackage("js/create", listFiles("examples/"), "templates.mjs");
}

/** @param {string} crate */
const sourcesOf = (crate) => [`crates/${crate}/Cargo.toml`, `crates/${crate}/src`];

/** Returns the files of modules: glue and WebAssembly. @param {string} folder @param {string[]} names */
const wasmOf = (folder, ...names) =>
  names.flatMap((name) => [`${folder}/wasm/${name}.js`, `${folder}/wasm/${name}_bg.wasm`]);

/** Flags for small modules: panics trap without a message. */
const SMALL = [
  "-Zunstable-options",
  "-Cpanic=immediate-abort",
  "-Zlocation-detail=none",
  "-Ctarget-feature=+simd128",
];

/** Inlines less, except functions marked for it. Modules whose sizes matter most get smaller, and stay as fast. */
const INLINE_LESS = "-Cllvm-args=--inline-threshold=20";

/**
 * Builds modules of a crate, each from the feature of its name, and their glue into the folder `wasm` of a package.
 *
 * @param {object} options
 * @param {string} options.crate
 * @param {string} options.package
 * @param {string[]} options.modules
 * @param {string[]} options.inputs the sources, besides the crate
 * @param {string} options.libraries the parts of the standard library to rebuild, with their size-optimised code
 * @param {(name: string) => Record<string, string>} options.env
 * @param {string[]} [options.smallest] modules that inline less
 * @param {(folder: string) => void} [options.generate] writes further files
 */
function buildWasm(options) {
  const { crate, package: folder, modules, inputs, libraries, env, smallest, generate } = options;
  const target = inRoot(folder, "wasm");
  const all = [
    ...[`crates/${crate}`, "Cargo.lock", "Cargo.toml", "package-lock.json", "rust-toolchain.toml"],
    ...["scripts/build.mjs", "scripts/lib/wasm.mjs", ...inputs],
  ];
  const rebuild = () => {
    rmSync(target, { recursive: true, force: true });
    for (const name of modules) {
      const args = [
        ...["--no-default-features", "--features", name],
        ...[`-Zbuild-std=${libraries}`, "-Zbuild-std-features=optimize_for_size"],
      ];
      const flags = smallest?.includes(name) ? [...SMALL, INLINE_LESS] : SMALL;
      buildModule(`crates/${crate}`, target, name, args, {
        // Enables unstable options, and `-Zbuild-std`, in the pinned stable compiler.
        RUSTC_BOOTSTRAP: "1",
        // Overrides any flags of the caller.
        CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f"),
        ...env(name),
      });
    }
    generate?.(target);
  };
  whenChanged(target, all, rebuild, JSON.stringify(buildTools()));
}

/** Types of an imported `.wasm` file, which the bundler compiles. */
const COMPILED = "declare const module: WebAssembly.Module;\nexport default module;\n";

/**
 * Writes the rule lists of `hedgerow-headers` as JavaScript: for each preset the list for requests, and the list for
 * responses if it differs.
 *
 * @param {string} module path without extension
 */
function writePresets(module) {
  const lists = outputOf("presets");
  const names = Object.keys(JSON.parse(lists)).map((name) => JSON.stringify(name));
  writeFileSync(`${module}.js`, `export default ${lists.trim()};\n`);
  writeFileSync(
    `${module}.d.ts`,
    `type Lists = readonly [requests: readonly string[], responses?: readonly string[]];
declare const presets: Readonly<Record<${names.join(" | ")}, Lists>>;
export default presets;
`,
  );
}

/**
 * Writes the fields that no sender may nominate, and those that an allow-list always keeps, as JavaScript.
 *
 * @param {string} module path without extension
 */
function writeFieldNames(module) {
  const lists = Object.entries(JSON.parse(outputOf("field_names")));
  const code = lists.map(([name, list]) => `export const ${name} = ${JSON.stringify(list)};\n`);
  const types = lists.map(([name]) => `export declare const ${name}: readonly string[];\n`);
  writeFileSync(`${module}.js`, code.join(""));
  writeFileSync(`${module}.d.ts`, types.join(""));
}

/** Returns the output of an example of `hedgerow-headers`. @param {string} name */
function outputOf(name) {
  const example = ["--package", "hedgerow-headers", "--example", name];
  return output("cargo", ["run", "--quiet", ...example]);
}

/**
 * Compiles a package's `src` to its `dist`.
 *
 * @param {string} folder
 * @param {string[]} inputs further ones
 * @param {string} [script] a script of `scripts/lib` to run afterwards, in a process because it imports npm packages
 */
function buildPackage(folder, inputs, script) {
  const dist = `${folder}/dist`;
  const all = [
    ...[`${folder}/src`, `${folder}/tsconfig.json`, "package-lock.json", "tsconfig.base.json"],
    ...(script === undefined ? [] : [`scripts/lib/${script}`]),
    ...inputs,
  ];
  whenChanged(dist, all, () => {
    step(`TypeScript: ${folder}`);
    rmSync(inRoot(dist), { recursive: true, force: true });
    run("tsc", ["--project", inRoot(folder)]);
    if (script !== undefined) run(process.execPath, [inRoot("scripts", "lib", script)]);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    await setup();
    build();
    step("everything is built");
  });
}
