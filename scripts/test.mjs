// Runs all tests except the code in documents, which `npm run docs` runs.
import { main, run, step } from "./lib/run.mjs";
import { testRust } from "./lib/rust-tests.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";

await main(() => {
  setUpTests();
  testRust();
  step("JavaScript and the readers of path filters");
  run("vitest", ["run", "--project", "tests"]);
  step("all tests passed");
});
