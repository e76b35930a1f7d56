// Lists, formats and lints the crates.
import { output, run, StepError } from "./run.mjs";

/** Crates that depend on Wasmtime, which takes minutes to build. */
export const WASMTIME_CRATES = ["hedgerow-tests-wasmtime", "hedgerow-example-wasmtime-host"];

/** Fields that a published crate must have. */
const METADATA = ["description", "license", "readme", "keywords", "categories", "rust_version"];

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
