// The header suite: native, and JavaScript on this Node, on Node 24 and in workerd.
import { node24 } from "../lib/paths.mjs";
import { summary } from "../lib/summary.mjs";
import { javascript, native, program } from "./harness.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** @returns {Promise<Result[]>} */
export async function benchHeaders() {
  return [
    ...native("headers", "four minutes"),
    ...imageSizes(),
    ...javascript("headers", "Node", process.execPath, "run"),
    ...javascript("headers", "Node 24", node24, "run"),
    ...javascript("headers", "workerd", process.execPath, "workerd"),
  ];
}

/** @returns {Result[]} */
function imageSizes() {
  /** @type {{ rules: number, image_bytes: number }[]} */
  const sizes = program("image_sizes");
  return sizes.map(({ rules, image_bytes: bytes }) => ({
    suite: "headers-growth-image",
    workload: `${rules} rules`,
    method: "hedgerow",
    unit: "bytes",
    ...summary([bytes]),
  }));
}
