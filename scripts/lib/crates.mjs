// The crates: which are published, formatting and lints, and what is checked before they are published.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { capture, output, run, StepError, step } from "./run.mjs";

/** Crates that depend on Wasmtime, which takes minutes to build. */
export const WASMTIME_CRATES = ["hedgerow-tests-wasmtime", "hedgerow-example-wasmtime-host"];

/** Fields that a published crate must have. */
const METADATA = ["description", "license", "readme", "keywords", "categories", "rust_version"];

/** Files that a packed crate may contain. */
const OWN =
  /^((src|examples)\/[\w/]+\.rs|LICENSE-(APACHE|MIT)|README\.md|Cargo\.(lock|toml|toml\.orig)|\.cargo_vcs_info\.json)$/;

/** Marks of code that was copied together with its copyright notice. */
const NOTICE = /\bcopyright\b|\(c\) \d{4}|©|SPDX-License|licen[cs]ed under/i;

/**
 * @typedef {{ name: string, version: string, description: string, manifest_path: string, rust_version: string, features: Record<string, string[]> }} Crate
 */

/** Returns the crates of the workspace without `publish = false`. @returns {Crate[]} */
export function publishedCrates() {
  const args = ["metadata", "--format-version", "1", "--no-deps"];
  // With `publish = false`, cargo reports an empty list.
  const crates = JSON.parse(output("cargo", args)).packages.filter(
    (/** @type {{ publish: string[] | null }} */ { publish }) => publish === null,
  );
  for (const crate of crates) {
    const missing = METADATA.filter((key) => (crate[key] ?? "").length === 0);
    if (missing.length > 0) throw new StepError(`${crate.name}: expected ${missing.join(", ")}`);
  }
  return crates;
}

/**
 * Formats all crates, also those in workspaces of their own: fuzz targets, and zstd 1.4 for tests.
 *
 * @param {string[]} options of cargo fmt
 */
export function formatCrates(...options) {
  run("cargo", ["fmt", "--all", ...options]);
  const fuzz = ["headers", "paths", "snapshot"].map((crate) => `crates/${crate}/fuzz`);
  for (const folder of [...fuzz, "tests/zstd-1.4"]) {
    run("cargo", ["fmt", "--manifest-path", `${folder}/Cargo.toml`, ...options]);
  }
}

/** Lints crates, and fails on a warning. @param {string[]} crates and features, as options of cargo */
export const runClippy = (crates) =>
  run("cargo", ["clippy", "--quiet", ...crates, "--", "-Dwarnings"]);

/** Packs the crates as for publishing and builds the packages with the oldest Rust that they support. */
export function packCrates() {
  for (const { name, rust_version, features } of publishedCrates()) {
    const toolchain = installOldest(rust_version);
    step(`Rust: packing ${name} and building it with Rust ${toolchain}`);
    const hasFeatures = Object.keys(features).length > 0;
    for (const set of ["--all-features", ...(hasFeatures ? ["--no-default-features"] : [])]) {
      run("cargo", [
        // Quiet, because cargo warns about the repository address, which does not exist yet.
        ...[`+${toolchain}`, "package", "--quiet", "--allow-dirty", "--package", name, set],
        // Separate from the builds of other steps and toolchains.
        ...["--target-dir", "target/oldest-rust"],
      ]);
    }
  }
}

/**
 * Installs the first release of a version, with the components that builds need.
 *
 * @param {string} version the `rust-version` of a manifest
 */
function installOldest(version) {
  // "1.88" would mean its newest patch release.
  const toolchain = /^\d+\.\d+$/.test(version) ? `${version}.0` : version;
  // Not by running it, which may make rustup install the full profile.
  const installed = capture("rustup", ["toolchain", "list"])?.split("\n") ?? [];
  if (!installed.some((line) => line.startsWith(`${toolchain}-`))) {
    step(`Rust ${toolchain}`);
    run("rustup", ["toolchain", "install", toolchain, "--profile", "minimal", "--no-self-update"]);
  }
  return toolchain;
}

/** Checks that published crates contain our own sources and no third-party code. */
export function checkOwnCrates() {
  for (const { name, manifest_path } of publishedCrates()) {
    step(`Rust: ${name} contains only its own sources`);
    const list = ["package", "--list", "--quiet", "--allow-dirty", "--package", name];
    const files = output("cargo", list).trim().split("\n");
    const read = (/** @type {string} */ file) =>
      readFileSync(join(dirname(manifest_path), file), "utf8");
    const wrong = foreignFiles(files, read);
    if (wrong.length > 0)
      throw new StepError(`${name} packs third-party files:\n${wrong.join("\n")}`);
  }
}

/**
 * Returns the files of a packed crate that are not its own sources.
 *
 * @param {string[]} files
 * @param {(file: string) => string} read
 */
export function foreignFiles(files, read) {
  return files.filter((f) => !OWN.test(f) || (f.endsWith(".rs") && NOTICE.test(read(f))));
}
