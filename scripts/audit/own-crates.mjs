// Checks that published crates contain our own sources and no third-party code.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { publishedCrates } from "../lib/crates.mjs";
import { output, StepError, step } from "../lib/run.mjs";

/** Files that a packed crate may contain. */
const OWN =
  /^((src|examples)\/[\w/]+\.rs|LICENSE-(APACHE|MIT)|README\.md|Cargo\.(lock|toml|toml\.orig)|\.cargo_vcs_info\.json)$/;

/** Marks of code that was copied together with its copyright notice. */
const NOTICE = /\bcopyright\b|\(c\) \d{4}|©|SPDX-License|licen[cs]ed under/i;

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
