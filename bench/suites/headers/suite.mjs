// The header suite: native, and JavaScript on this Node, on Node 24 and in workerd.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { allParts } from "../../harness/missing.mjs";
import * as nativePlans from "../../harness/native-plan.mjs";
import { buildNative, javascript, native, program } from "../../harness/run.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

export const prepare = () => buildNative("headers");

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = JSON.stringify(isQuick ? QUICK : PLAN);
  const js = (/** @type {string} */ engine, /** @type {string} */ node) =>
    inTemporaryFolder((folder) => {
      const rules = join(folder, "rules.json");
      writeFileSync(rules, JSON.stringify(program("growth_rules")));
      return javascript("headers", engine, node, "run", [plan, rules]);
    });
  return allParts("headers", {
    native: () => native("headers", isQuick ? nativePlans.QUICK : nativePlans.PLAN),
    "sizes of images": imageSizes,
    "this Node": () => js("Node", process.execPath),
    "Node 24": () => js("Node 24", node24),
    workerd: () => javascript("headers", "workerd", process.execPath, "workerd", [plan]),
  });
}

/** @returns {Measured[]} */
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
