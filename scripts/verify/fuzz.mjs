// Fuzzes every target for a bounded time, from the inputs that earlier runs found.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { cache } from "../lib/paths.mjs";
import { capture, run, StepError, step } from "../lib/run.mjs";
import { fuzzTool } from "../lib/tools.mjs";
import { installTool } from "../setup.mjs";

/** The fuzz targets of each crate. */
const TARGETS = {
  headers: ["image", "field_block", "rules"],
  paths: ["format", "builder", "merge"],
  snapshot: ["manifest", "index", "frame", "round_trip", "delta"],
};

/** @param {import("../verify.mjs").Options} options */
export function fuzz({ seconds }) {
  if (capture("c++", ["--version"]) === undefined) {
    throw new StepError("a C++ compiler is missing: apt-get install build-essential");
  }
  installTool(fuzzTool);
  const targets = Object.entries(TARGETS).flatMap(([crate, names]) =>
    names.map((name) => ({ crate, name })),
  );
  for (const { crate, name } of targets) {
    step(`fuzzing ${crate} ${name} for ${seconds} s`);
    const corpus = join(cache, "corpora", crate, name);
    mkdirSync(corpus, { recursive: true });
    // A sanitizer would need a nightly toolchain, and the crates contain no unsafe code.
    run("cargo", [
      ...["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", `crates/${crate}/fuzz`, name, corpus],
      ...["--", `-max_total_time=${seconds}`, "-print_funcs=0", "-print_final_stats=1"],
    ]);
  }
}
