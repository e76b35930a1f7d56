// Runs all tests except the code in documents, which `npm run docs` runs.
import { main, run, runTogether, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";

/** The crates with each feature set, and their WebAssembly. */
const RUST_TESTS = {
  "all features": ["--all-features"],
  "default features": ["-p", "hedgerow-headers"],
  "no features": ["-p", "hedgerow-headers", "--no-default-features"],
  "WebAssembly in Wasmtime": [
    ...["-p", "hedgerow-tests-wasmtime", "-p", "hedgerow-example-wasmtime-host"],
  ],
};

await main(async () => {
  await setUpTests();
  step(`Rust: ${Object.keys(RUST_TESTS).join(", ")}`);
  // In parallel, because each ends with one slow test.
  await runTogether(
    Object.values(RUST_TESTS).map((args) => ["cargo", ["test", "--quiet", ...args]]),
    // `npm run fuzz` tries all 256.
    { PROPTEST_CASES: process.env.PROPTEST_CASES ?? "64" },
  );
  step("JavaScript and the readers of path filters");
  run("vitest", ["run", "--project", "tests"]);
  step("all tests passed");
});
