// That the crates that are published have our own sources in them, and nothing that others wrote.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { publishedCrates } from "../lib/crates.mjs";
import { capture, StepError, step } from "../lib/run.mjs";

/** What a packed crate may have: sources, what says what it is, and what cargo adds. */
const OWN =
  /^((src|examples)\/[\w/]+\.rs|LICENSE-(APACHE|MIT)|README\.md|Cargo\.(lock|toml|toml\.orig)|\.cargo_vcs_info\.json)$/;

/** What code has in it that was copied with the notice of whoever wrote it. */
const NOTICE = /\bcopyright\b|\(c\) \d{4}|©|SPDX-License|licen[cs]ed under/i;

export function checkOwnCrates() {
  for (const { name, manifest_path } of publishedCrates()) {
    step(`Rust: ${name} has its own sources alone`);
    const list = ["package", "--list", "--quiet", "--allow-dirty", "--package", name];
    const files = capture("cargo", list, { showErrors: true })?.split("\n").filter(Boolean);
    if (files === undefined) throw new StepError(`failed: cargo ${list.join(" ")}`);
    const read = (/** @type {string} */ file) =>
      readFileSync(join(dirname(manifest_path), file), "utf8");
    const wrong = foreignFiles(files, read);
    if (wrong.length > 0)
      throw new StepError(`${name} packs what others wrote:\n${wrong.join("\n")}`);
  }
}

/**
 * The files of a packed crate that are not its own sources.
 *
 * @param {string[]} files
 * @param {(file: string) => string} read
 */
export function foreignFiles(files, read) {
  const isForeign = (/** @type {string} */ file) =>
    !OWN.test(file) || (file.endsWith(".rs") && NOTICE.test(read(file)));
  return files.filter(isForeign);
}
