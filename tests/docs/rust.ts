/**
 * Runs Rust in documents as documentation tests of Cargo. The README of a crate is tested with the crate; Rust in
 * other documents is tested here.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { attempt } from "../../scripts/lib/run.mjs";

const SHARED_CRATE = "hedgerow-tests-docs";
const SHARED_FOLDER = "tests/docs/rust";

export function expectDocumentationTest(document: string): void {
  if (document.startsWith("crates/")) {
    expectIncluded(`${dirname(document)}/src/lib.rs`, "../README.md");
    return;
  }
  expectIncluded(`${SHARED_FOLDER}/src/lib.rs`, `../../../../${document}`);
  const args = ["test", "--quiet", "--doc", "--package", SHARED_CRATE];
  const { status, output, errors } = attempt("cargo", args, { stdout: "pipe" });
  if (status !== 0) throw new Error(`cargo ${args.join(" ")}\n${output}${errors}`);
}

function expectIncluded(source: string, path: string): void {
  const included = `doc = include_str!("${path}")`;
  if (!readFileSync(inRoot(source), "utf8").includes(included)) {
    throw new Error(`${source}: expected ${included}`);
  }
}
