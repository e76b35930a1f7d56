// What comes before tests: the set-up, what only tests need, the build, and the packages as they are packed.
import { build } from "../build.mjs";
import { setup } from "../setup.mjs";
import { installTestSuites } from "./suites.mjs";

export function setUpTests() {
  setup([
    ["lib/suites.mjs", "fetchTestSuites"],
    ["lib/test-programs.mjs", "installTestPrograms"],
  ]);
  build();
  installTestSuites();
}
