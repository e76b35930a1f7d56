// Sets up, builds, and runs all tests.
import { build } from "./build.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { installGoTool } from "./lib/go.mjs";
import { installPythonPackages } from "./lib/python.mjs";
import { main, run, step } from "./lib/run.mjs";
import { installTestSuites } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

await main(() => {
  setup();
  installPrograms("tests");
  installPythonPackages();
  installGoTool("versitygw");
  build();
  installTestSuites();
  step("Rust: all features");
  run("cargo", ["test", "--quiet", "--all-features"]);
  step("Rust: default features");
  run("cargo", ["test", "--quiet", "-p", "hedgerow-headers"]);
  step("Rust: no features");
  run("cargo", ["test", "--quiet", "-p", "hedgerow-headers", "--no-default-features"]);
  step("WebAssembly in wasmtime");
  run("cargo", [
    "test",
    "--quiet",
    "-p",
    "hedgerow-tests-wasmtime",
    "-p",
    "hedgerow-example-wasmtime-host",
  ]);
  step("JavaScript, and every reader of path filters");
  run("vitest", ["run"]);
  step("all tests passed");
});
