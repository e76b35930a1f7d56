// Stripping headers: native, and JavaScript on the current Node, on Node 24 and in workerd.
import { node24 } from "../../../scripts/lib/paths.mjs";
import {
  buildNative,
  CRITERION_QUICK,
  runCriterion,
  runNative,
  runScript,
} from "../../harness/programs.mjs";
import { measureParts, result } from "../../harness/results.mjs";

/** Iterating a `Headers` is slow and needs fewer rounds to settle. */
export const PLAN = {
  criterion: /** @type {string[]} */ ([]),
  /** In Node, by kind of message, and for growing sets of rules. */
  rounds: { raw: 60, headers: 24, block: 40, growth: 40 },
  workerRounds: 15,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  criterion: CRITERION_QUICK,
  rounds: { raw: 2, headers: 2, block: 2, growth: 2 },
  workerRounds: 2,
};

export const prepare = () => buildNative("headers");

/** @param {Plan} plan */
export function measure(plan) {
  const { execPath } = process;
  return measureParts("headers", {
    native: () => runCriterion("headers", plan.criterion),
    "sizes of images": imageSizes,
    "this Node": () => runScript("headers", "Node", execPath, "run", plan),
    "Node 24": () => runScript("headers", "Node 24", node24, "run", plan),
    workerd: () => runScript("headers", "workerd", execPath, "workerd", plan),
  });
}

/** Growing sets of rules. @typedef {{ rules: string[], sets: { count: number, image: number }[] }} Growth */

function imageSizes() {
  const { sets } = /** @type {Growth} */ (runNative("growth"));
  return sets.map(({ count, image }) => {
    const about = { suite: "headers-growth-image", workload: `${count} rules`, unit: "bytes" };
    return result(about, "hedgerow", [image]);
  });
}
