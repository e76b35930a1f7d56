// The first use of packages in fresh processes of every Node and in workerd.
import { inEngines } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

const ROUNDS = 41;
const QUICK_ROUNDS = 1;

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const nodes = ["node20", "node22", "node24", "node26"].map((name) => [
    name,
    inEngines(name, "bin", "node"),
  ]);
  const engines = {
    nodes: Object.fromEntries(nodes),
    workerd: inEngines("workerd", "bin", "workerd"),
  };
  return inTemporaryFolder((folder) => {
    const args = [folder, `${isQuick ? QUICK_ROUNDS : ROUNDS}`, JSON.stringify(engines)];
    const description = "first uses in four versions of Node and in workerd";
    return runScript("start", description, process.execPath, "run", args);
  });
}
