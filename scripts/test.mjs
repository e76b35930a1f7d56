// Sets up, builds, and runs all tests but those of documents: `npm run docs` runs these.
import { build } from "./build.mjs";
import { main, run, step } from "./lib/run.mjs";
import { testRust } from "./lib/rust-tests.mjs";
import { installTestSuites } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

await main(() => {
  setup([
    ["lib/suites.mjs", "fetchTestSuites"],
    ["lib/test-programs.mjs", "installTestPrograms"],
  ]);
  build();
  installTestSuites();
  testRust();
  step("JavaScript, and every reader of path filters");
  run("vitest", ["run", "--project", "tests"]);
  step("all tests passed");
});
