// Rust's standard library, as the modules have it: built from its sources, with crates that it needs itself.
import { join } from "node:path";

import { capture, StepError } from "../lib/run.mjs";
import { cargoTree, licenceFiles } from "./cargo.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */

/** Its manifests say what only its own compiler may read. */
const ENV = { RUSTC_BOOTSTRAP: "1" };

/** Whose it is, by the COPYRIGHT-library.html of the toolchain; the texts of licences beside it leave that open. */
const HOLDERS = "The Rust Project Developers (see https://thanks.rust-lang.org)";

/** The same names the tables of `core`, which are Unicode's. */
const LICENCE = "(MIT OR Apache-2.0) AND Unicode-3.0";

/**
 * What of it is in a module.
 *
 * @param {string} crate what the module has of it
 * @param {string} target
 * @returns {Part[]}
 */
export function standardLibrary(crate, target) {
  const [version, sysroot] = [rustc("--version").split(" ")[1] ?? "", rustc("--print=sysroot")];
  const manifest = join(sysroot, "lib/rustlib/src/rust/library/Cargo.toml");
  const args = [crate, "--no-default-features", "--target", target, "--manifest-path", manifest];
  const { local, foreign } = cargoTree(args, ENV);
  const texts = join(sysroot, "share/doc/rust/licenses");
  return [
    {
      ...{ name: "Rust's standard library", version, licence: LICENCE, holders: HOLDERS },
      files: ["Apache-2.0.txt", "MIT.txt", "Unicode-3.0.txt"].map((name) => join(texts, name)),
    },
    ...local.filter(({ name }) => name === "compiler_builtins").map(withFiles),
    ...foreign,
  ];
}

/** Its licence lies above it, and that of the `libm` in it beside it. @param {Part} part @returns {Part} */
function withFiles(part) {
  const above = join(part.folder ?? "", "..");
  return { ...part, files: [above, join(above, "libm")].flatMap(licenceFiles) };
}

/** @param {string} option */
function rustc(option) {
  const said = capture("rustc", [option], { showErrors: true });
  if (said === undefined) throw new StepError(`failed: rustc ${option}`);
  return said.trim();
}
