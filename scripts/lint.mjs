// Checks formatting, lints and types. Changes nothing.
import { formatCrates, runClippy, WASMTIME_CRATES } from "./lib/crates.mjs";
import { main, run, step } from "./lib/run.mjs";
import { installTestSuites } from "./lib/suites.mjs";
import { setUpAndBuild } from "./setup.mjs";

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
});
