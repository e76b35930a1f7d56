/** Runs the cases of the slim entry in a worker, which imports the modules. */
import block from "hedgerow/block.wasm";
import paths from "hedgerow/paths.wasm";
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

export default {
  async fetch(): Promise<Response> {
    return Response.json(await runSuites({ slim }, { modules: { paths, block } }));
  },
};
