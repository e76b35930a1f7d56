// Runs what the gate leaves out, part by part: `npm run verify -- [PART ...] [--seconds S] [--rounds N] [--seed S]`.
import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { runDocuments } from "./docs/api.mjs";
import { packCrates, runClippy, WASMTIME_CRATES } from "./lib/crates.mjs";
import { printTable } from "./lib/measured.mjs";
import { cache } from "./lib/paths.mjs";
import { capture, listFiles, main, output, run, StepError, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { fuzzTool } from "./lib/tools.mjs";
import { installTool } from "./setup.mjs";
import { buildSite } from "./site.mjs";

/** The parts, in the order in which they run. @type {Record<string, (options: Options) => void | Promise<void>>} */
const PARTS = {
  crates: verifyCrates,
  fuzz,
  trials: runTrials,
  docs: runDocuments,
  site: testSite,
  soak,
  bench: tryBenchmarks,
};

/** The fuzz targets of each crate. */
const TARGETS = {
  headers: ["image", "field_block", "rules"],
  paths: ["format", "builder", "merge"],
  snapshot: ["manifest", "index", "frame", "round_trip", "delta"],
};

/** The module that tests take their number of trials from. */
const TRIALS = "tests/support/trials.ts";

/**
 * `seconds` is the time for each fuzz target, `rounds` and `seeds` are those of the soak.
 *
 * @typedef {{ seconds: string, rounds: string, seeds: string[] }} Options
 */

await main(async () => {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: "string", default: "15" },
      // Three minutes on two cores.
      rounds: { type: "string", default: "20" },
      seed: { type: "string", multiple: true, default: ["1"] },
    },
    allowPositionals: true,
  });
  const options = {
    seconds: wholeNumber("seconds", values.seconds),
    rounds: wholeNumber("rounds", values.rounds),
    seeds: values.seed.map((seed) => wholeNumber("seed", seed)),
  };
  const parts = positionals.length > 0 ? positionals : Object.keys(PARTS);
  const unknown = parts.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    throw new StepError(`expected ${Object.keys(PARTS).join(", ")}, found ${unknown.join(", ")}`);
  }
  await setUpTests();
  const failed = await runParts(parts, options);
  if (failed.length > 0) throw new StepError(failed.join("\n\u2717 "));
});

/**
 * Runs parts, all of them even if one fails, and prints how long each took. Returns the errors.
 *
 * @param {string[]} parts
 * @param {Options} options
 */
async function runParts(parts, options) {
  const failed = [];
  /** @type {[string, string][]} */
  const rows = [];
  for (const part of parts) {
    const begun = performance.now();
    let outcome = "passed";
    try {
      await PARTS[part]?.(options);
    } catch (error) {
      outcome = "failed";
      failed.push(
        `${part}: ${error instanceof StepError ? error.message : /** @type {Error} */ (error).stack}`,
      );
    }
    rows.push([part, `${outcome} in ${((performance.now() - begun) / 60_000).toFixed(1)} min`]);
  }
  step("verified");
  printTable(rows);
  console.log(`${parts.length - failed.length} passed, ${failed.length} failed`);
  return failed;
}

/** @param {string} name @param {string} text */
function wholeNumber(name, text) {
  if (/^[1-9]\d{0,6}$/.test(text)) return text;
  throw new StepError(`--${name}: expected a number from 1 on, found ${text}`);
}

/** Runs the properties of the crates with all cases, packs the crates, and runs their WebAssembly in Wasmtime. */
function verifyCrates() {
  const seed = String(randomInt(2 ** 47));
  step(`Rust: PROPTEST_RNG_SEED=${seed} cargo test --all-features`);
  run("cargo", ["test", "--quiet", "--all-features"], { env: { PROPTEST_RNG_SEED: seed } });
  step("Rust: Wasmtime");
  const crates = WASMTIME_CRATES.flatMap((name) => ["--package", name]);
  runClippy([...crates, "--all-targets"]);
  run("cargo", ["test", "--quiet", ...crates]);
  packCrates();
}

/**
 * Fuzzes every target for a bounded time, even if one fails, from the inputs that earlier runs found.
 *
 * @param {Options} options
 */
function fuzz({ seconds }) {
  if (capture("c++", ["--version"]) === undefined) {
    throw new StepError("a C++ compiler is missing: apt-get install build-essential");
  }
  installTool(fuzzTool);
  const targets = Object.entries(TARGETS).flatMap(([crate, names]) =>
    names.map((name) => ({ crate, name })),
  );
  const failed = [];
  for (const { crate, name } of targets) {
    step(`fuzzing ${crate} ${name} for ${seconds} s`);
    const corpus = join(cache, "corpora", crate, name);
    mkdirSync(corpus, { recursive: true });
    // A sanitizer would need a nightly toolchain, and the crates contain no unsafe code.
    try {
      run("cargo", [
        ...["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", `crates/${crate}/fuzz`, name],
        ...[corpus, "--", `-max_total_time=${seconds}`, "-print_funcs=0", "-print_final_stats=1"],
      ]);
    } catch (error) {
      failed.push(`${crate} ${name}: ${/** @type {Error} */ (error).message}`);
    }
  }
  if (failed.length > 0) throw new StepError(failed.join("\n\u2717 "));
}

/** Runs randomised tests with all their trials, and the tests that only `npm run verify` runs. */
function runTrials() {
  const seed = String(randomInt(2 ** 31));
  step(`randomised tests with all trials, HEDGEROW_SEED=${seed}, and tests of minutes`);
  const projects = ["--project", "tests", "--project", "verify"];
  run("vitest", ["related", "--run", ...projects, TRIALS, ...listFiles("*.verify.test.ts")], {
    env: { HEDGEROW_TRIALS: "all", HEDGEROW_SEED: seed },
  });
}

/** Builds the site and tests it in Chromium: every page, both themes, two widths. */
async function testSite() {
  await buildSite();
  run("vitest", ["run", "--project", "site"]);
}

/** Runs the test of the whole system for several minutes. @param {Options} options */
function soak({ rounds, seeds }) {
  for (const seed of seeds) {
    step(`the whole system, ${rounds} rounds of seed ${seed}`);
    const env = {
      HEDGEROW_SOAK_SEED: seed,
      HEDGEROW_SOAK_ROUNDS: rounds,
      HEDGEROW_TRIALS: "all",
    };
    const flags = ["--disable-console-intercept", "--typecheck.enabled=false"];
    run("vitest", ["run", ...flags, "tests/system/system.verify.test.ts"], { env });
  }
  step(`no data was lost and nothing leaked: seed ${seeds.join(", ")}`);
}

/** Runs all benchmarks once, without their figures: nothing else runs their code. */
function tryBenchmarks() {
  step("benchmarks");
  output(process.execPath, ["scripts/bench.mjs", "--quick"]);
}
