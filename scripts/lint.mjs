// Checks formatting, lints and types, and changes nothing; or formats all files in place, with `--write`.
import { parseArgs } from "node:util";

import { formatCrates, runClippy, WASMTIME_CRATES } from "./lib/crates.mjs";
import { main, run, step } from "./lib/run.mjs";
import { installTestSuites } from "./lib/suites.mjs";
import { setUpAndBuild, setup } from "./setup.mjs";

/** The crates and features that clippy checks. `npm run verify -- crates` checks those that need Wasmtime. */
const CLIPPY = [
  [
    ...["--workspace", "--all-targets", "--all-features"],
    ...WASMTIME_CRATES.flatMap((name) => ["--exclude", name]),
  ],
  ["-p", "hedgerow-headers", "--no-default-features"],
  ["-p", "hedgerow-edge-wasm", "--target", "wasm32-unknown-unknown"],
];

await main(async () => {
  const { write } = parseArgs({ options: { write: { type: "boolean" } } }).values;
  await (write === true ? format() : lint());
});

async function format() {
  await setup();
  formatCrates();
  run("biome", ["check", "--write", "."]);
}

async function lint() {
  await setUpAndBuild([["lib/suites.mjs", "fetchTestSuites"]]);
  // `tsc` needs their types.
  installTestSuites();
  step("Rust: formatting");
  formatCrates("--check");
  step("Rust: clippy");
  CLIPPY.forEach(runClippy);
  step("TypeScript and JavaScript: formatting and lints");
  run("biome", ["ci", "--error-on-warnings", "."]);
  step("TypeScript and JavaScript: types");
  run("tsc", ["--noEmit", "--project", "tsconfig.json"]);
}
