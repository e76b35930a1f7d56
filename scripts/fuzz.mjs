// Fuzzes every target for a bounded time, and runs the tests that try at random with all of their trials:
// `npm run fuzz -- [seconds a target]`.
import { capture, main, run, StepError, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { fuzzTool } from "./lib/tools.mjs";
import { runAllTrials } from "./lib/trials.mjs";
import { installTool } from "./setup.mjs";

/** The crates that have fuzz targets, and the targets. */
const TARGETS = [
  { folder: "crates/headers", targets: ["image", "field_block", "rules"] },
  { folder: "crates/paths", targets: ["format", "builder"] },
  { folder: "crates/snapshot", targets: ["manifest", "frame", "round_trip"] },
];

await main(() => {
  const seconds = Number(process.argv[2] ?? 20);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new StepError(`expected a number of seconds, found ${process.argv[2]}`);
  }
  if (capture("c++", ["--version"]) === undefined) {
    throw new StepError("a C++ compiler is missing: apt-get install build-essential");
  }
  setUpTests();
  installTool(fuzzTool);
  for (const { folder, targets } of TARGETS) {
    for (const target of targets) {
      step(`fuzzing ${folder} ${target} for ${seconds} s`);
      // Without a sanitizer no nightly toolchain is needed; the crates have no unsafe code of
      // their own.
      run("cargo", [
        ...["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", `${folder}/fuzz`, target],
        ...["--", `-max_total_time=${seconds}`, "-print_funcs=0", "-print_final_stats=1"],
      ]);
    }
  }
  runAllTrials();
});
