// Stripping headers: native, and JavaScript on the current Node, on Node 24 and in workerd.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import {
  buildNative,
  nativePlan,
  runCriterion,
  runNative,
  runScript,
} from "../../harness/programs.mjs";
import { measureParts } from "../../harness/results.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

/**
 * @typedef {object} Plan
 * @property {Record<"raw" | "headers" | "block" | "growth", number>} rounds in Node, by kind of message, and for growing
 * sets of rules
 * @property {number} workerRounds in workerd
 */

/**
 * Iterating a `Headers` is slow and needs fewer rounds to settle.
 *
 * @type {Plan}
 */
const PLAN = { rounds: { raw: 60, headers: 24, block: 40, growth: 40 }, workerRounds: 15 };

/** @type {Plan} */
const QUICK = { rounds: { raw: 4, headers: 2, block: 4, growth: 2 }, workerRounds: 2 };

export const prepare = () => buildNative("headers");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  const inNode = (/** @type {string} */ engine, /** @type {string} */ node) =>
    inTemporaryFolder((folder) => {
      const rules = join(folder, "rules.json");
      writeFileSync(rules, JSON.stringify(runNative("growth_rules")));
      return runScript("headers", engine, node, "run", [plan, rules]);
    });
  return measureParts("headers", {
    native: () => runCriterion("headers", nativePlan(isQuick)),
    "sizes of images": imageSizes,
    "this Node": () => inNode("Node", process.execPath),
    "Node 24": () => inNode("Node 24", node24),
    workerd: () => runScript("headers", "workerd", process.execPath, "workerd", [plan]),
  });
}

/** @returns {Measured[]} */
function imageSizes() {
  /** @type {{ rules: number, image_bytes: number }[]} */
  const sizes = runNative("image_sizes");
  return sizes.map(({ rules, image_bytes: bytes }) => ({
    suite: "headers-growth-image",
    workload: `${rules} rules`,
    method: "hedgerow",
    unit: "bytes",
    ...summary([bytes]),
  }));
}
