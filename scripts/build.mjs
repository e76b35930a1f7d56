// Builds the crates, the WebAssembly modules and the JavaScript packages.
import { rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { inRoot } from "./lib/paths.mjs";
import { capture, main, run, StepError, step } from "./lib/run.mjs";
import { whenChanged } from "./lib/stamp.mjs";
import { buildTools } from "./lib/tools.mjs";
import { buildModule, ZSTD_ENV } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

export function build() {
  run("cargo", ["build", "--quiet"]);
  buildEdgeWasm();
  const generated = ["build.js", "build_bg.wasm", "edge.js", "edge_bg.wasm", "presets.js"];
  buildPackage(
    "js/edge",
    [
      ...generated.map((name) => `js/edge/wasm/${name}`),
      "js/edge/package.json",
      "scripts/lib/bundle-edge.mjs",
    ],
    // tsc emits only types here.
    () => run(process.execPath, [inRoot("scripts", "lib", "bundle-edge.mjs")]),
  );
  buildSnapshotWasm();
  const ofSnapshot = ["decode.js", "decode_bg.wasm", "encode.js", "encode_bg.wasm"];
  buildPackage(
    "js/snapshot",
    [...ofSnapshot.map((name) => `js/snapshot/wasm/${name}`), "scripts/lib/embed-snapshot.mjs"],
    () => run(process.execPath, [inRoot("scripts", "lib", "embed-snapshot.mjs")]),
  );
  buildPackage("js/cli", ["js/edge/dist", "js/snapshot/dist"]);
}

/**
 * Options for small modules: rebuild the core library with panics that trap without a message, and with
 * its size-optimised code. Both options are unstable; RUSTC_BOOTSTRAP enables them in the pinned stable
 * compiler.
 */
const SMALL = {
  args: (/** @type {string} */ libraries) => [
    `-Zbuild-std=${libraries}`,
    "-Zbuild-std-features=optimize_for_size",
  ],
  // Overrides any flags in the caller's environment.
  env: {
    RUSTC_BOOTSTRAP: "1",
    CARGO_ENCODED_RUSTFLAGS: [
      "-Zunstable-options",
      "-Cpanic=immediate-abort",
      "-Zlocation-detail=none",
      "-Ctarget-feature=+simd128",
    ].join("\x1f"),
  },
};

/**
 * Builds a module of a crate from the feature of the same name.
 *
 * @param {string} crate
 * @param {string} output the folder for the module and its glue
 * @param {string} name
 * @param {string} libraries the parts of the standard library to build
 * @param {Record<string, string>} env
 */
function buildSmall(crate, output, name, libraries, env) {
  const args = ["--no-default-features", "--features", name, ...SMALL.args(libraries)];
  buildModule(crate, output, name, args, { ...SMALL.env, ...env });
}

/**
 * Builds `crates/edge-wasm` into `js/edge/wasm`: modules, glue and presets.
 */
function buildEdgeWasm() {
  const output = inRoot("js/edge/wasm");
  const inputs = [
    "Cargo.lock",
    "Cargo.toml",
    "crates/edge-wasm",
    "crates/headers/Cargo.toml",
    "crates/headers/examples",
    "crates/headers/src",
    "crates/paths/Cargo.toml",
    "crates/paths/src",
    "package-lock.json",
    "rust-toolchain.toml",
    "scripts/build.mjs",
    "scripts/lib/wasm.mjs",
  ];
  const versions = JSON.stringify(buildTools());
  whenChanged(
    `${output}/.inputs`,
    inputs.map((input) => inRoot(input)),
    versions,
    () => {
      rmSync(output, { recursive: true, force: true });
      for (const name of ["edge", "build"]) {
        buildSmall("crates/edge-wasm", output, name, "core,alloc", {
          CARGO_PROFILE_RELEASE_OPT_LEVEL: "2",
        });
      }
      writeFileSync(`${output}/compiled.d.ts`, COMPILED);
      writePresets(`${output}/presets`);
    },
  );
}

/** Builds `crates/snapshot-wasm` into `js/snapshot/wasm`: modules and glue. */
function buildSnapshotWasm() {
  const output = inRoot("js/snapshot/wasm");
  const inputs = [
    "Cargo.lock",
    "Cargo.toml",
    "crates/snapshot-wasm",
    "crates/snapshot/Cargo.toml",
    "crates/snapshot/src",
    "package-lock.json",
    "rust-toolchain.toml",
    "scripts/build.mjs",
    "scripts/lib/wasm.mjs",
  ];
  whenChanged(
    `${output}/.inputs`,
    inputs.map((input) => inRoot(input)),
    JSON.stringify(buildTools()),
    () => {
      rmSync(output, { recursive: true, force: true });
      for (const name of ["decode", "encode"]) {
        buildSmall("crates/snapshot-wasm", output, name, "std,panic_abort", ZSTD_ENV);
      }
    },
  );
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
  const example = ["--package", "hedgerow-headers", "--example", "presets"];
  const lists = capture("cargo", ["run", "--quiet", ...example], { showErrors: true });
  if (lists === undefined) throw new StepError("failed: cargo run --example presets");
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
 * Compiles a package's `src` to its `dist`.
 *
 * @param {string} folder
 * @param {string[]} also further inputs
 * @param {() => void} then a step after compilation
 */
function buildPackage(folder, also, then = () => {}) {
  const output = inRoot(folder, "dist");
  const inputs = [
    `${folder}/src`,
    `${folder}/tsconfig.json`,
    "package-lock.json",
    "tsconfig.base.json",
    ...also,
  ];
  whenChanged(
    `${output}/.inputs`,
    inputs.map((input) => inRoot(input)),
    "",
    () => {
      step(`TypeScript: ${folder}`);
      rmSync(output, { recursive: true, force: true });
      run("tsc", ["--project", inRoot(folder)]);
      then();
    },
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    setup();
    build();
    step("everything is built");
  });
}
