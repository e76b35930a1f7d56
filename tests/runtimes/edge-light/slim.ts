/** Runs the cases of the slim entry in the edge-light VM, where the host sets the module as a global. */
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

declare const edge_bg: WebAssembly.Module;

export const outcomes = runSuites({ slim }, { module: edge_bg });
