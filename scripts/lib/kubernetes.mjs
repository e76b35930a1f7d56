// Installs the JSON schemas of Kubernetes, which a Python package contains.
import { join } from "node:path";

import { inRoot } from "./paths.mjs";
import { installPythonPackages, packagesFolder } from "./python.mjs";

const REQUIREMENTS = inRoot("tests", "tools", "kubernetes", "requirements.txt");

/** The version of the modules of Kubernetes in tests/tools/kubernetes/go.mod, without its patches. */
const VERSION = "v1.35.0";

export function installKubernetesSchemas() {
  installPythonPackages(REQUIREMENTS, "JSON schemas of Kubernetes");
}

/** Returns the folder of the schemas, which allow no unknown members. */
export function kubernetesSchemas() {
  const schemas = join("kubernetes_validate", "kubernetes-json-schema", `${VERSION}-local-strict`);
  return join(packagesFolder(REQUIREMENTS), schemas);
}
