/** Runs the cases of the slim entry in the edge-light VM, where the host sets the modules as globals. */
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

declare const paths_bg: WebAssembly.Module;
declare const block_bg: WebAssembly.Module;

const modules = { paths: paths_bg, block: block_bg };
export const outcomes = runSuites({ slim }, { modules });
