/** Runs the cases in a process of Node, Deno or Bun. */
import { memoryBytes } from "../../support/memories.js";
import { immutableHeaders } from "./immutable-headers.js";

// The memory counter has to load before any module is instantiated.
const [{ suites }, { runSuites }] = await Promise.all([
  import("../../cases/index.js"),
  import("../run-suites.js"),
]);
console.log(
  JSON.stringify(await runSuites(suites, { immutable: immutableHeaders(), memoryBytes })),
);
