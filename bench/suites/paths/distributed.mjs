// Builds a filter in partitions, as examples/distributed-filter does, and in one process.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { DISTRIBUTED_FILTER, pythonEnv } from "../../../scripts/lib/python.mjs";
import { output, StepError, step } from "../../../scripts/lib/run.mjs";
import { result } from "../../harness/results.mjs";
import { onDisk } from "../../harness/temporary.mjs";

const EXAMPLE = inRoot("examples", "distributed-filter");
const WASM = inRoot("js", "edge", "wasm", "build_bg.wasm");
const COMMAND = inRoot("js", "cli", "bin", "hedgerow.js");
const BUILD_LIST = inRoot("bench", "suites", "paths", "build-list.mjs");

/** Runs a command, and prints its time and the peak memory of its largest process. */
const MEASURE = `
import json, resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
seconds = time.monotonic() - start
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "memory": memory}))
`;

/** @typedef {{ seconds: number, memory: number }} Sample */

/** @param {import("./suite.mjs").Plan} plan */
export function measureDistributed({ distributedPaths: count, distributedRounds: rounds }) {
  step(`paths: ${count} paths in partitions`);
  return onDisk((folder) => {
    python(join(EXAMPLE, "make_paths.py"), `${count}`, ...[`${folder}/paths`, `${folder}/list`]);
    const samples = Array.from({ length: rounds }, () => measureRound(folder, count));
    const about = { suite: "paths-distributed", workload: "4 partitions" };
    return METHODS.flatMap((method) => {
      const all = samples.map((sample) => sample[method]);
      const [seconds, memory] = [all.map((one) => one.seconds), all.map((one) => one.memory)];
      const details = { paths: count };
      return [
        result({ ...about, unit: "s" }, `${method}, seconds`, seconds, details),
        result({ ...about, unit: "bytes" }, `${method}, memory`, memory, details),
      ];
    });
  });
}

/** @typedef {"parts" | "merge" | "whole"} Method */

/** @type {Method[]} */
const METHODS = ["parts", "merge", "whole"];

/**
 * Builds the parts, merges them, and builds all in one process.
 *
 * @param {string} folder
 * @param {number} count
 * @returns {Record<Method, Sample>}
 */
function measureRound(folder, count) {
  const [parts, merged, whole] = [`${folder}/parts`, `${folder}/merged`, `${folder}/whole`];
  const job = join(EXAMPLE, "build_parts.py");
  const samples = {
    parts: timed("python3", job, `${folder}/paths`, parts, WASM),
    merge: timed(process.execPath, COMMAND, "paths", "merge", ...filesOf(parts), "-o", merged),
    whole: timed(process.execPath, BUILD_LIST, `${folder}/list`, `${count}`, whole),
  };
  if (!readFileSync(merged).equals(readFileSync(whole))) {
    throw new StepError("the merged filter differs from the one that was built in one go");
  }
  return samples;
}

/** @param {string} folder */
const filesOf = (folder) => readdirSync(folder).map((name) => join(folder, name));

/** Runs a command. @param {string[]} command @returns {Sample} */
const timed = (...command) => JSON.parse(python("-c", MEASURE, ...command));

/** @param {string[]} args */
const python = (...args) => output("python3", args, { env: pythonEnv(DISTRIBUTED_FILTER) });
