// Runs the three jobs on realistic input and prints what they did: `npm run demo`.
import { build } from "./build.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { main } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  setup();
  installPrograms("demo");
  build();
  // Imported late, because their dependencies are only installed by now.
  const { demonstrateHeaders } = await import("./demo/headers.mjs");
  await demonstrateHeaders();
  const { demonstratePaths } = await import("./demo/paths.mjs");
  await demonstratePaths();
  const { demonstrateSnapshot } = await import("./demo/snapshot.mjs");
  await demonstrateSnapshot();
});
