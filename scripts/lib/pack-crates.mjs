// Packs the crates as for publishing and builds the packages with the oldest Rust that they support.
import { publishedCrates } from "./crates.mjs";
import { capture, run, step } from "./run.mjs";

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
