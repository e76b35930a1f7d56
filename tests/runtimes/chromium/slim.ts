/** Runs the cases of the slim entry in a page, which compiles the modules while fetching them. */
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

const compiled = ["paths", "block"].map(async (name) => {
  return [name, await WebAssembly.compileStreaming(fetch(`/${name}.wasm`))];
});
Object.assign(globalThis, {
  outcomes: Promise.all(compiled).then((modules) =>
    runSuites({ slim }, { modules: Object.fromEntries(modules) }),
  ),
});
