/** The cases, in a process of Node, Deno or Bun. */
import { memoryBytes } from "../../support/memories.js";
import { immutableHeaders } from "./immutable-headers.js";

// What counts memories comes before what instantiates modules.
const [{ suites }, { runSuites }] = await Promise.all([
  import("../../cases/index.js"),
  import("../run-suites.js"),
]);
console.log(
  JSON.stringify(await runSuites(suites, { immutable: immutableHeaders(), memoryBytes })),
);
