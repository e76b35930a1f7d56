// Installs Python packages for the system's Python 3.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { digestOf, makeWhole } from "./cache.mjs";
import { installDebianPackages } from "./debian.mjs";
import { inRoot, toolCache } from "./paths.mjs";
import { capture, run, StepError, step } from "./run.mjs";

/** Requirements of the tests. */
const REQUIREMENTS = inRoot("tests", "requirements.txt");

/** Requirements of the example that builds a filter in partitions, which tests and benchmarks run. */
export const DISTRIBUTED_FILTER = inRoot("examples", "distributed-filter", "requirements.txt");

/** Requirements of moto, an S3 server of the tests. */
export const MOTO = inRoot("tests", "tools", "moto", "requirements.txt");

/** Requirements of the tests of Kubernetes manifests: a package that contains its JSON schemas. */
const KUBERNETES = inRoot("tests", "tools", "kubernetes", "requirements.txt");

/** The version of the modules of Kubernetes in tests/tools/kubernetes/go.mod, without its patches. */
const KUBERNETES_VERSION = "v1.35.0";

/**
 * Returns the folder of the packages in a requirements file; compiled packages depend on the Python version.
 *
 * @param {string} requirements
 */
export function packagesFolder(requirements) {
  const print = "import sysconfig; print(sysconfig.get_config_var('SOABI'))";
  const abi = capture("python3", ["-c", print])?.trim();
  if (abi === undefined) throw new StepError("python3 is missing: apt-get install python3");
  return join(toolCache, `python-packages-${digestOf(requirements)}-${abi}`);
}

/** The environment in which `python3` finds the packages of a requirements file, and writes nothing beside scripts. */
export const pythonEnv = (requirements = REQUIREMENTS) => ({
  PYTHONPATH: packagesFolder(requirements),
  PYTHONDONTWRITEBYTECODE: "1",
});

/**
 * Installs the packages of a requirements file into the shared cache, as a plain folder: a virtual
 * environment could not be renamed. Installs nothing else: the file lists what its packages need.
 */
export function installPythonPackages(requirements = REQUIREMENTS, name = "Python packages") {
  const target = packagesFolder(requirements);
  if (existsSync(target)) return;
  if (capture("python3", ["-m", "pip", "--version"]) === undefined) {
    installDebianPackages(["python3-pip"]);
  }
  step(name);
  makeWhole(target, (partial) => {
    run("python3", [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
      ...["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement", requirements],
      ...["--target", partial],
    ]);
  });
}

/** Installs the JSON schemas of Kubernetes. */
export function installKubernetesSchemas() {
  installPythonPackages(KUBERNETES, "JSON schemas of Kubernetes");
}

/** Returns the folder of the schemas, which allow no unknown members. */
export function kubernetesSchemas() {
  const schemas = join(
    "kubernetes_validate",
    "kubernetes-json-schema",
    `${KUBERNETES_VERSION}-local-strict`,
  );
  return join(packagesFolder(KUBERNETES), schemas);
}
