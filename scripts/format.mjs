// Formats everything in place.
import { main, run } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(() => {
  setup();
  run("cargo", ["fmt", "--all"]);
  run("cargo", ["fmt", "--manifest-path", "crates/headers/fuzz/Cargo.toml"]);
  run("biome", ["check", "--write", "."]);
});
