// Sets up, builds, and runs all tests but those of documents: `npm run docs` runs these.
import { main, run, step } from "./lib/run.mjs";
import { testRust } from "./lib/rust-tests.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";

await main(() => {
  setUpTests();
  testRust();
  step("JavaScript, and every reader of path filters");
  run("vitest", ["run", "--project", "tests"]);
  step("all tests passed");
});
