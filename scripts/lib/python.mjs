// The Python packages that tests use, beside whichever Python 3 is at hand.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { installDebianPackages } from "./debian.mjs";
import { inRoot, toolCache } from "./paths.mjs";
import { attempt, capture, StepError, step } from "./run.mjs";

const REQUIREMENTS = inRoot("tests", "requirements.txt");

/** The folder of the packages; some are compiled, for one version of Python. */
function packagesFolder() {
  const print = "import sysconfig; print(sysconfig.get_config_var('SOABI'))";
  const abi = capture("python3", ["-c", print])?.trim();
  if (abi === undefined) throw new StepError("python3 is missing: apt-get install python3");
  const digest = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
  return join(toolCache, `python-packages-${digest.slice(0, 12)}-${abi}`);
}

/** The environment in which `python3` finds the packages. */
export const pythonEnv = () => ({ PYTHONPATH: packagesFolder() });

/**
 * Installs the packages into the shared cache. They appear there only when all are whole, so that
 * several clones may install them at once. It is a plain folder, not an environment of Python's,
 * which could not be renamed.
 */
export function installPythonPackages() {
  const target = packagesFolder();
  if (existsSync(target)) return;
  if (capture("python3", ["-m", "pip", "--version"]) === undefined) {
    installDebianPackages(["python3-pip"]);
  }
  step("Python packages");
  mkdirSync(toolCache, { recursive: true });
  const partial = `${target}.partial-${process.pid}`;
  try {
    const { status, errors } = attempt("python3", [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
      ...["--require-hashes", "--only-binary", ":all:", "--requirement", REQUIREMENTS],
      ...["--target", partial],
    ]);
    if (status !== 0) throw new StepError(`pip could not install ${REQUIREMENTS}: ${errors}`);
    try {
      renameSync(partial, target);
    } catch (error) {
      // Another clone was first.
      if (!existsSync(target)) throw error;
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
