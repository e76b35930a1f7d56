// Formats all files in place.
import { formatCrates } from "./lib/crates.mjs";
import { main, run } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  await setup();
  formatCrates();
  run("biome", ["check", "--write", "."]);
});
