// Sets up, builds, and runs all tests.
import { build } from "./build.mjs";
import { main, run, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(() => {
  setup();
  build();
  step("Rust: all features");
  run("cargo", ["test", "--quiet", "--all-features"]);
  step("Rust: default features");
  run("cargo", ["test", "--quiet", "-p", "hedgerow-headers"]);
  step("Rust: no features");
  run("cargo", ["test", "--quiet", "-p", "hedgerow-headers", "--no-default-features"]);
  step("JavaScript");
  run("vitest", ["run"]);
  step("all tests passed");
});
