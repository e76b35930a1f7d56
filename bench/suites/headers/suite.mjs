// Stripping headers: native, and JavaScript on the current Node, on Node 24, in workerd and on other engines.
import { inEngines, node24 } from "../../../scripts/lib/paths.mjs";
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
  criterion: ["--warm-up-time=1", "--measurement-time=3"],
  /** Processes of this Node and of Node 24. */
  processes: 5,
  /** Of a process, by kind of message, and for growing sets of rules. */
  rounds:
    /** @type {Partial<Record<"raw" | "headers" | "block" | "growth" | "seeded", number>>} */ ({
      ...{ raw: 8, headers: 5, block: 6, growth: 4, seeded: 8 },
    }),
  workerRounds: { raw: 6, headers: 10, block: 10 },
  /** In the other engines, some of which need many rounds to optimise. */
  ...{ otherProcesses: 2, otherRounds: 20 },
};

/** @typedef {typeof PLAN} Plan */

/** Engines in which only raw lists are stripped, and the commands that run a script. */
const OTHERS = {
  "Node 22": inEngines("node22", "bin", "node"),
  "Node 26": inEngines("node26", "bin", "node"),
  Deno: [inEngines(".bin", "deno"), "run", "--allow-all", "--no-lock"],
  Bun: inEngines(".bin", "bun"),
};

/** @type {Plan} */
export const QUICK = {
  criterion: CRITERION_QUICK,
  processes: 1,
  rounds: { raw: 2, headers: 2, block: 2, growth: 2, seeded: 1 },
  workerRounds: { raw: 1, headers: 1, block: 1 },
  ...{ otherProcesses: 1, otherRounds: 1 },
};

export const prepare = () => buildNative("headers");

/** @param {Plan} plan */
export function measure(plan) {
  const { execPath } = process;
  const { processes, otherProcesses, otherRounds } = plan;
  return measureParts("headers", {
    native: () => runCriterion("headers", plan.criterion),
    "sizes of images": imageSizes,
    "this Node": () => runScript("headers", "Node", execPath, "run", plan, processes),
    "Node 24": () => runScript("headers", "Node 24", node24, "run", plan, processes),
    workerd: () => runScript("headers", "workerd", execPath, "workerd", plan),
    ...Object.fromEntries(
      Object.entries(OTHERS).map(([name, command]) => [
        name,
        () => {
          const parameters = { rounds: { raw: otherRounds } };
          return runScript("headers", name, command, "run", parameters, otherProcesses);
        },
      ]),
    ),
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
