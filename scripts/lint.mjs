// Checks formatting, lints, types and words. Changes nothing.

import { build } from "./build.mjs";
import { packCrates } from "./lib/pack-crates.mjs";
import { main, run, step } from "./lib/run.mjs";
import { installTestSuites } from "./lib/suites.mjs";
import { checkVoice } from "./lib/voice.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  checkVoice();
  await setup([["lib/suites.mjs", "fetchTestSuites"]]);
  build();
  // `tsc` needs their types.
  installTestSuites();
  step("Rust: formatting");
  run("cargo", ["fmt", "--all", "--check"]);
  for (const crate of ["headers", "paths", "snapshot"]) {
    run("cargo", ["fmt", "--check", "--manifest-path", `crates/${crate}/fuzz/Cargo.toml`]);
  }
  step("Rust: clippy");
  const clippy = ["clippy", "--quiet", "--workspace", "--all-targets"];
  run("cargo", [...clippy, "--all-features", "--", "-D", "warnings"]);
  run("cargo", [
    "clippy",
    "--quiet",
    "-p",
    "hedgerow-headers",
    "--no-default-features",
    "--",
    "-D",
    "warnings",
  ]);
  run("cargo", [
    ...["clippy", "--quiet", "-p", "hedgerow-edge-wasm", "--target", "wasm32-unknown-unknown"],
    ...["--", "-D", "warnings"],
  ]);
  packCrates();
  step("TypeScript and JavaScript: formatting and lints");
  run("biome", ["ci", "--error-on-warnings", "."]);
  step("TypeScript and JavaScript: types");
  run("tsc", ["--noEmit", "--project", "tsconfig.json"]);
});
