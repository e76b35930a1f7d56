/** Runs the cases of the slim entry in a page, which compiles the module while fetching it. */
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

const module = WebAssembly.compileStreaming(fetch("/edge.wasm"));
Object.assign(globalThis, {
  outcomes: module.then((module) => runSuites({ slim }, { module })),
});
