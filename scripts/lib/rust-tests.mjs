// Runs the tests of the crates with each feature set, and of their WebAssembly in Wasmtime. They run at the same time,
// because each ends with one slow test.
import { run, step } from "./run.mjs";
import { together } from "./together.mjs";

/** @param {string} what @param {string[]} args */
function cargoTest(what, args) {
  step(what);
  run("cargo", ["test", "--quiet", ...args]);
}

const HEADERS = ["-p", "hedgerow-headers"];

export const allFeatures = () => cargoTest("Rust: all features", ["--all-features"]);

export const defaultFeatures = () => cargoTest("Rust: default features", HEADERS);

export const noFeatures = () =>
  cargoTest("Rust: no features", [...HEADERS, "--no-default-features"]);

export const inWasmtime = () =>
  cargoTest("WebAssembly in wasmtime", [
    ...["-p", "hedgerow-tests-wasmtime", "-p", "hedgerow-example-wasmtime-host"],
  ]);

/** Runs all Rust tests. */
export function testRust() {
  const names = ["allFeatures", "defaultFeatures", "noFeatures", "inWasmtime"];
  together(names.map((name) => ["lib/rust-tests.mjs", name]));
}
