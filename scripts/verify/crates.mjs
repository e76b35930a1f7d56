// Runs the properties of the crates with all cases, packs the crates, and runs their WebAssembly in Wasmtime.
import { randomInt } from "node:crypto";

import { runClippy, WASMTIME_CRATES } from "../lib/crates.mjs";
import { packCrates } from "../lib/pack-crates.mjs";
import { run, step } from "../lib/run.mjs";

export function verifyCrates() {
  const seed = String(randomInt(2 ** 47));
  step(`Rust: PROPTEST_RNG_SEED=${seed} cargo test --all-features`);
  run("cargo", ["test", "--quiet", "--all-features"], { env: { PROPTEST_RNG_SEED: seed } });
  step("Rust: Wasmtime");
  const crates = WASMTIME_CRATES.flatMap((name) => ["--package", name]);
  runClippy([...crates, "--all-targets"]);
  run("cargo", ["test", "--quiet", ...crates]);
  packCrates();
}
