// Formats all files in place.
import { main, run } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  await setup();
  run("cargo", ["fmt", "--all"]);
  for (const crate of ["headers", "paths", "snapshot"]) {
    run("cargo", ["fmt", "--manifest-path", `crates/${crate}/fuzz/Cargo.toml`]);
  }
  run("biome", ["check", "--write", "."]);
});
