// Packing the crates as they are published, and building what is packed with the oldest Rust that they
// promise to work with.
import { publishedCrates } from "./crates.mjs";
import { capture, run, step } from "./run.mjs";

export function packCrates() {
  for (const { name, rust_version, features } of publishedCrates()) {
    const toolchain = installOldest(rust_version);
    step(`Rust: ${name}, packed, and built with Rust ${toolchain}`);
    const hasFeatures = Object.keys(features).length > 0;
    for (const set of hasFeatures
      ? ["--all-features", "--no-default-features"]
      : ["--all-features"]) {
      run("cargo", [
        // Quiet also of what cannot be given yet: the address of the repository.
        ...[`+${toolchain}`, "package", "--quiet", "--allow-dirty", "--package", name, set],
        // Apart from what other steps and toolchains build.
        ...["--target-dir", "target/oldest-rust"],
      ]);
    }
  }
}

/**
 * Installs the first release of a version, and of that what builds and no more.
 *
 * @param {string} version as `rust-version` has it
 */
function installOldest(version) {
  // "1.88" would stay at the newest release of it when it was installed.
  const toolchain = /^\d+\.\d+$/.test(version) ? `${version}.0` : version;
  // Not by running it: rustup may then install all of it.
  const installed = capture("rustup", ["toolchain", "list"])?.split("\n") ?? [];
  if (!installed.some((line) => line.startsWith(`${toolchain}-`))) {
    step(`Rust ${toolchain}`);
    run("rustup", ["toolchain", "install", toolchain, "--profile", "minimal", "--no-self-update"]);
  }
  return toolchain;
}
