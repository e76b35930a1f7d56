/** The cases of the slim entry, in the edge-light VM: the module is a global, as its hosts set it. */
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

declare const edge_bg: WebAssembly.Module;

export const outcomes = runSuites({ slim }, { module: edge_bg });
