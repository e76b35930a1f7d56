// Prepares everything that tests need: set-up, test programs, build, and packed packages.
import { build } from "../build.mjs";
import { setup } from "../setup.mjs";
import { installPrograms } from "./debian.mjs";
import { installGoTool } from "./go.mjs";
import { installPythonPackages } from "./python.mjs";
import { installTestSuites } from "./suites.mjs";

export async function setUpTests() {
  await setup([
    ["lib/suites.mjs", "fetchTestSuites"],
    ["lib/set-up-tests.mjs", "installTestPrograms"],
  ]);
  build();
  installTestSuites();
}

/** Installs programs in order: Debian first, because the others may need its programs and apt-get takes a lock. */
export function installTestPrograms() {
  installPrograms("tests");
  installPythonPackages();
  installGoTool("versitygw");
}
