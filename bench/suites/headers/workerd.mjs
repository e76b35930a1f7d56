// Strips headers in workerd.
import { HeaderStripper } from "hedgerow";

import {
  externalNames,
  internalNames,
  prefixRules,
  requests,
} from "../../../scripts/lib/corpus.mjs";
import { startWorker } from "../../../scripts/lib/worker.mjs";
import { result } from "../../harness/results.mjs";
import { methods } from "./methods.mjs";

/** Rounds before the measured ones, so that all code is compiled. */
const WARM_UPS = 3;

/** Passes over the workload in a request to the worker, so that the request itself hardly counts. */
const PASSES = { raw: 24, headers: 6, block: 24 };

/** @param {import("./suite.mjs").Plan} plan */
export async function measure({ workerRounds }) {
  const rules = internalNames();
  const inputs = requests("real");
  const { worker, url } = await startWorker("bench/suites/headers/worker.mjs", {
    RULES: rules,
    PREFIXES: prefixRules(),
    ALLOWED: externalNames(),
    REQUESTS: inputs,
  });

  /** Runs a step in the worker and returns its time in nanoseconds. @param {import("./worker.mjs").Job} job */
  const time = async (job) => {
    const start = process.hrtime.bigint();
    const response = await fetch(url, { method: "POST", body: JSON.stringify(job) });
    const { count } = /** @type {{ count: number }} */ (await response.json());
    const expected = job.passes * inputs.length;
    if (count !== expected) {
      throw new Error(`${job.method}: expected ${expected} inputs, found ${count}`);
    }
    return Number(process.hrtime.bigint() - start);
  };

  const stripper = new HeaderStripper(rules);
  const all = methods(rules, stripper, stripper, stripper);
  const results = [];
  for (const kind of /** @type {const} */ (["raw", "headers", "block"])) {
    const passes = PASSES[kind];
    for (const { name } of all[kind]) {
      const job = { kind, method: name, passes };
      const samples = [];
      for (let round = -WARM_UPS; round < workerRounds; round += 1) {
        await time({ ...job, step: "make" });
        const elapsed = await time({ ...job, step: "run" });
        if (round >= 0) samples.push(elapsed / (passes * inputs.length));
      }
      const about = { suite: `headers-workerd-${kind}`, workload: "real", unit: "ns/request" };
      results.push(result(about, name, samples));
    }
  }
  await worker.dispose();
  return results;
}
