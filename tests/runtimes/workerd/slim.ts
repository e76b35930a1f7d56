/** The cases of the slim entry, in a worker: the module is one of the worker's own. */
import module from "hedgerow/edge.wasm";
import { slim } from "../../cases/slim.js";
import { runSuites } from "../run-suites.js";

export default {
  async fetch(): Promise<Response> {
    return Response.json(await runSuites({ slim }, { module }));
  },
};
