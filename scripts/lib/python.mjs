// Python packages, beside whichever Python 3 is at hand.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { digestOf, makeWhole } from "./cache.mjs";
import { installDebianPackages } from "./debian.mjs";
import { inRoot, toolCache } from "./paths.mjs";
import { attempt, capture, StepError, step } from "./run.mjs";

/** What tests use. */
const REQUIREMENTS = inRoot("tests", "requirements.txt");

/**
 * The folder of the packages of a file; some are compiled, for one version of Python.
 *
 * @param {string} requirements
 */
export function packagesFolder(requirements) {
  const print = "import sysconfig; print(sysconfig.get_config_var('SOABI'))";
  const abi = capture("python3", ["-c", print])?.trim();
  if (abi === undefined) throw new StepError("python3 is missing: apt-get install python3");
  return join(toolCache, `python-packages-${digestOf(requirements)}-${abi}`);
}

/** The environment in which `python3` finds the packages of tests. */
export const pythonEnv = () => ({ PYTHONPATH: packagesFolder(REQUIREMENTS) });

/**
 * Installs the packages of a file into the shared cache. It is a plain folder, not an environment of
 * Python's, which could not be renamed.
 */
export function installPythonPackages(requirements = REQUIREMENTS, name = "Python packages") {
  const target = packagesFolder(requirements);
  if (existsSync(target)) return;
  if (capture("python3", ["-m", "pip", "--version"]) === undefined) {
    installDebianPackages(["python3-pip"]);
  }
  step(name);
  makeWhole(target, (partial) => {
    const { status, errors } = attempt("python3", [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
      ...["--require-hashes", "--only-binary", ":all:", "--requirement", requirements],
      ...["--target", partial],
    ]);
    if (status !== 0) throw new StepError(`pip could not install ${requirements}: ${errors}`);
  });
}
