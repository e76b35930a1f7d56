/** Runs the cases of the slim entry in a process of Node, Deno or Bun, with the modules from files. */
import { readFileSync } from "node:fs";
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

const module = (url: string) => readFileSync(new URL(url));
const modules = {
  paths: module(import.meta.resolve("hedgerow/paths.wasm")),
  block: module(import.meta.resolve("hedgerow/block.wasm")),
};
console.log(JSON.stringify(await runSuites({ slim }, { modules })));
