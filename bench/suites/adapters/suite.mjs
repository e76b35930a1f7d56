// Each adapter compared with its framework alone, on Node 24.
import { node24 } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";

export const PLAN = {
  rounds: 11,
  warmUps: 1,
  /** The measured part of a turn. */
  seconds: 1.2,
  /** Requests before it, so that all code is optimised. */
  warmUp: 20_000,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = { rounds: 1, warmUps: 0, seconds: 0.5, warmUp: 2000 };

/** @param {Plan} plan */
export function measure(plan) {
  const description = "frameworks with and without an adapter, Node 24";
  return inTemporaryFolder((folder) =>
    runScript("adapters", description, node24, "run", { folder, plan }),
  );
}
