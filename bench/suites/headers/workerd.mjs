// Strips headers in workerd: `workerd.mjs PLAN` with the plan as JSON. Prints its results as a JSON array.
import { HeaderStripper } from "hedgerow";

import { internalNames, prefixRules, requests } from "../../../scripts/lib/corpus.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { startWorker } from "../../../scripts/lib/worker.mjs";
import { methods } from "./methods.mjs";

/** Rounds before the measured ones, so that all code is compiled. */
const WARM_UPS = 3;

/** Passes over the workload in a request to the worker, so that the request itself hardly counts. */
const PASSES = { raw: 24, headers: 6, block: 24 };

/** @type {import("./suite.mjs").Plan} */
const { workerRounds } = JSON.parse(process.argv[2] ?? "");
const rules = internalNames();
const inputs = requests("real");
const { worker, url } = await startWorker("bench/suites/headers/worker.mjs", {
  RULES: rules,
  PREFIXES: prefixRules(),
  REQUESTS: inputs,
});

/**
 * Runs a step in the worker and returns its time in nanoseconds.
 *
 * @param {import("./worker.mjs").Job} job
 */
async function time(job) {
  const start = process.hrtime.bigint();
  const response = await fetch(url, { method: "POST", body: JSON.stringify(job) });
  const { count } = /** @type {{ count: number }} */ (await response.json());
  if (count !== job.passes * inputs.length)
    throw new Error(`${job.method}: expected ${job.passes * inputs.length} inputs, found ${count}`);
  return Number(process.hrtime.bigint() - start);
}

const stripper = new HeaderStripper(rules);
const results = [];
for (const [kind, ofKind] of Object.entries(methods(rules, stripper, stripper))) {
  const passes = PASSES[/** @type {keyof typeof PASSES} */ (kind)];
  for (const { name } of ofKind) {
    const job = { kind: /** @type {keyof typeof PASSES} */ (kind), method: name, passes };
    const samples = [];
    for (let round = -WARM_UPS; round < workerRounds; round += 1) {
      await time({ ...job, step: "make" });
      const elapsed = await time({ ...job, step: "run" });
      if (round >= 0) samples.push(elapsed / (passes * inputs.length));
    }
    const suite = `headers-workerd-${kind}`;
    results.push({
      suite,
      workload: "real",
      method: name,
      unit: "ns/request",
      ...summary(samples),
    });
  }
}
await worker.dispose();
console.log(JSON.stringify(results));
