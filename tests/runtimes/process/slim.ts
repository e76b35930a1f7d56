/** Runs the cases of the slim entry in a process of Node, Deno or Bun, with the module from a file. */
import { readFileSync } from "node:fs";
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

const module = readFileSync(new URL(import.meta.resolve("hedgerow/edge.wasm")));
console.log(JSON.stringify(await runSuites({ slim }, { module })));
