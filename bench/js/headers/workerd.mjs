// The JavaScript suite in workerd. Prints its results as one JSON array.
import { HeaderStripper } from "hedgerow";

import { internalNames, prefixRules, requests } from "../../../scripts/lib/corpus.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { startWorker } from "../../../scripts/lib/worker.mjs";
import { methods } from "./methods.mjs";

const ROUNDS = 11;
/** Passes over the workload in one request to the worker. */
const PASSES = { raw: 60, headers: 8, block: 60 };

const rules = internalNames();
const inputs = requests("real");
const { worker, url } = await startWorker("bench/js/headers/worker.mjs", {
  RULES: rules,
  PREFIXES: prefixRules(),
  REQUESTS: inputs,
});

/**
 * The time of one job, in nanoseconds.
 *
 * @param {import("./worker.mjs").Job} job
 */
async function time(job) {
  const start = process.hrtime.bigint();
  const response = await fetch(url, { method: "POST", body: JSON.stringify(job) });
  const { done } = /** @type {{ done: number }} */ (await response.json());
  if (done !== job.passes * inputs.length)
    throw new Error(`${job.method}: the worker did not finish`);
  return Number(process.hrtime.bigint() - start);
}

const stripper = new HeaderStripper(rules);
const results = [];
for (const [kind, ways] of Object.entries(methods(rules, stripper, stripper))) {
  const passes = PASSES[/** @type {keyof typeof PASSES} */ (kind)];
  for (const { name } of ways) {
    const job = { kind: /** @type {any} */ (kind), method: name, passes };
    const samples = [];
    for (let round = -2; round < ROUNDS; round += 1) {
      const without = await time({ ...job, isRun: false });
      const elapsed = (await time({ ...job, isRun: true })) - without;
      if (round >= 0) samples.push(elapsed / (passes * inputs.length));
    }
    results.push({
      suite: `headers-workerd-${kind}`,
      workload: "real",
      method: name,
      unit: "ns/request",
      ...summary(samples),
    });
  }
}
await worker.dispose();
console.log(JSON.stringify(results));
