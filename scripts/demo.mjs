// Runs the three jobs on realistic input and prints what they did: `npm run demo`.
import { build } from "./build.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { main } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  await setup();
  installPrograms("demo");
  build();
  // Imported late, because their dependencies are only installed by now.
  await (await import("./demo/headers.mjs")).demonstrateHeaders();
  await (await import("./demo/paths.mjs")).demonstratePaths();
  await (await import("./demo/snapshot.mjs")).demonstrateSnapshot();
});
