// The first use of packages in fresh processes of every Node and in workerd.
import { inEngines } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";

export const PLAN = { rounds: 41 };

export const QUICK = { rounds: 1 };

/** Paths of programs. */
const ENGINES = {
  nodes: {
    node20: inEngines("node20", "bin", "node"),
    node22: inEngines("node22", "bin", "node"),
    node24: inEngines("node24", "bin", "node"),
    node26: inEngines("node26", "bin", "node"),
  },
  workerd: inEngines("workerd", "bin", "workerd"),
};

/** @typedef {typeof PLAN & typeof ENGINES & { folder: string }} Parameters */

/** @param {typeof PLAN} plan */
export function measure(plan) {
  const description = "first uses in four versions of Node and in workerd";
  return inTemporaryFolder((folder) =>
    runScript("start", description, process.execPath, "run", { ...plan, ...ENGINES, folder }),
  );
}
