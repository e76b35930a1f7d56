// Fuzzes every target for a bounded time, then runs randomised tests with all trials:
// `npm run fuzz -- [seconds per target]`.
import { capture, main, run, StepError, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { fuzzTool } from "./lib/tools.mjs";
import { runAllTrials } from "./lib/trials.mjs";
import { installTool } from "./setup.mjs";

/** The fuzz targets of each crate. */
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
      // A sanitizer would need a nightly toolchain, and the crates contain no unsafe code.
      run("cargo", [
        ...["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", `${folder}/fuzz`, target],
        ...["--", `-max_total_time=${seconds}`, "-print_funcs=0", "-print_final_stats=1"],
      ]);
    }
  }
  runAllTrials();
});
