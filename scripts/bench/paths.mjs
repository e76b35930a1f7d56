// The path suite: native, JavaScript on this Node and on Node 24, rates and memory.
import { node24 } from "../lib/paths.mjs";
import { step } from "../lib/run.mjs";
import { summary } from "../lib/summary.mjs";
import { javascript, native, program } from "./harness.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** @returns {Promise<Result[]>} */
export async function benchPaths() {
  return [
    ...native("paths", "eight minutes"),
    ...javascript("paths", "Node", process.execPath, "run"),
    ...javascript("paths", "Node 24", node24, "run"),
    ...buildMemory(),
    ...falsePositives(),
  ];
}

/** @returns {Result[]} */
function buildMemory() {
  step("memory while filters are built");
  return [10_000, 100_000, 1_000_000, 10_000_000].flatMap((count) => {
    /** @type {{ file: number, peak: number }} */
    const { file, peak } = program("build_memory", `${count}`);
    return Object.entries({ "file, bytes a path": file, "peak, bytes a path": peak }).map(
      ([method, bytes]) => ({
        suite: "paths-memory",
        workload: `${count} paths`,
        method,
        unit: "bytes",
        ...summary([bytes / count]),
      }),
    );
  });
}

/** @returns {Result[]} */
function falsePositives() {
  step("false positives, by thirteen billion queries (two minutes)");
  /** @type {{ sizing: string, rate: number, keys: number, bits: number, measured: number }[]} */
  const measurements = program("false_positives");
  return measurements.map(({ sizing, rate, keys, measured }) => ({
    suite: `paths-false-positives, ${sizing.toLowerCase()}`,
    workload: `p = ${rate}, ${keys} paths`,
    method: "measured rate / p",
    unit: "×",
    ...summary([measured / rate]),
  }));
}
