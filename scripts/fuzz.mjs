// Fuzzes every target for a bounded time, then runs randomised tests with all trials, or the K-th of N shares of them:
// `npm run fuzz -- [seconds per target] [--share K/N]`.
import { parseArgs } from "node:util";

import { capture, main, output, run, StepError, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { fuzzTool } from "./lib/tools.mjs";
import { installTool } from "./setup.mjs";

/** Matches the import of the number of trials (tests/support/trials.ts), directly or through a helper. */
const TRIALS = '/support/(trials|http/check(-dry-run)?)[.]js"';

/** The fuzz targets of each crate. */
const TARGETS = [
  { folder: "crates/headers", targets: ["image", "field_block", "rules"] },
  { folder: "crates/paths", targets: ["format", "builder", "merge"] },
  { folder: "crates/snapshot", targets: ["manifest", "index", "frame", "round_trip", "delta"] },
];

await main(async () => {
  const { values, positionals } = parseArgs({
    options: { share: { type: "string", default: "1/1" } },
    allowPositionals: true,
  });
  const seconds = Number(positionals[0] ?? 20);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new StepError(`expected a number of seconds, found ${positionals[0]}`);
  }
  const [share = 0, shares = 0] = values.share.split("/").map(Number);
  if (!/^\d+[/]\d+$/.test(values.share) || share < 1 || share > shares) {
    throw new StepError(`--share: expected a share such as 2/3, found ${values.share}`);
  }
  if (capture("c++", ["--version"]) === undefined) {
    throw new StepError("a C++ compiler is missing: apt-get install build-essential");
  }
  await setUpTests();
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
  step("properties of the crates with all cases");
  run("cargo", ["test", "--quiet", "--all-features"]);
  step("randomised tests with all trials");
  const tests = output("git", ["grep", "--untracked", "-lE", TRIALS, "--", "*.test.ts"]);
  run("vitest", ["run", `--shard=${values.share}`, ...tests.trim().split("\n")], {
    env: { HEDGEROW_TRIALS: "all" },
  });
});
