// Prepares everything that tests need: set-up, test programs, build, and packed packages.
import { setUpAndBuild } from "../setup.mjs";
import { installPrograms } from "./debian.mjs";
import { installGoTool } from "./go.mjs";
import {
  DISTRIBUTED_FILTER,
  installKubernetesSchemas,
  installPythonPackages,
  MOTO,
} from "./python.mjs";
import { run, step } from "./run.mjs";
import { whenChanged } from "./stamp.mjs";
import { installTestSuites } from "./suites.mjs";

/** Where zstd 1.4 is built. */
const OLD_ZSTD = "target/zstd-1.4";

/** The program that decompresses with zstd 1.4. */
export const oldZstd = `${OLD_ZSTD}/release/hedgerow-tests-zstd-1-4`;

export async function setUpTests() {
  await setUpAndBuild([
    ["lib/suites.mjs", "fetchTestSuites"],
    ["lib/set-up-tests.mjs", "installTestPrograms"],
  ]);
  installTestSuites();
}

/** Installs programs in order: Debian first, because the others may need its programs and apt-get takes a lock. */
export function installTestPrograms() {
  installPrograms("tests");
  makeGuest();
  installPythonPackages();
  installPythonPackages(DISTRIBUTED_FILTER, "DuckDB, and Wasmtime for Python");
  installPythonPackages(MOTO, "moto");
  installGoTool("versitygw");
  installGoTool("fake-gcs-server");
  installGoTool("kubeconform");
  installGoTool("kubernetes-types");
  installKubernetesSchemas();
  buildOldZstd();
}

/** Makes the kernel and the initial file system of guests in QEMU. */
export function makeGuest() {
  const script = "examples/sandbox/guest/make.sh";
  whenChanged("target/guest", [script], () => {
    step("guests: Debian's kernel, and an initial file system");
    run("sh", [script, "target/guest"]);
  });
}

/** Builds a program that decompresses with zstd 1.4. */
function buildOldZstd() {
  const folder = ["--manifest-path", "tests/zstd-1.4/Cargo.toml", "--target-dir", OLD_ZSTD];
  run("cargo", ["build", "--quiet", "--locked", "--release", ...folder]);
}
