/** Runs the cases of the slim entry in a worker, which imports the module. */
import module from "hedgerow/edge.wasm";
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

export default {
  async fetch(): Promise<Response> {
    return Response.json(await runSuites({ slim }, { module }));
  },
};
