// Strips headers in workerd.
import { HeaderStripper } from "hedgerow";

import {
  externalNames,
  internalNames,
  prefixRules,
  requests,
} from "../../../scripts/lib/corpus.mjs";
import { startWorker } from "../../../scripts/lib/worker.mjs";
import { itself, resultsOf } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { CASES, methods, WORKLOADS } from "./methods.mjs";

/** Rounds before the measured ones, so that all code is compiled. */
const WARM_UPS = 2;

/** Passes over the workload in a request to the worker, so that the request itself hardly counts. */
const PASSES = { raw: 24, headers: 6, block: 24 };

/** @typedef {import("./worker.mjs").Job} Job */

/** @param {import("./suite.mjs").Plan} plan */
export async function measure({ workerRounds }) {
  const rules = internalNames();
  const inputs = Object.fromEntries(WORKLOADS.map((name) => [name, requests(name)]));
  const { worker, url } = await startWorker("bench/suites/headers/worker.mjs", {
    RULES: rules,
    PREFIXES: prefixRules(),
    ALLOWED: externalNames(),
    REQUESTS: inputs,
  });

  /** Runs a step in the worker and returns its time in nanoseconds for each input. @param {Job} job */
  const time = async (job) => {
    const start = process.hrtime.bigint();
    const response = await fetch(url, { method: "POST", body: JSON.stringify(job) });
    const { count } = /** @type {{ count: number }} */ (await response.json());
    const elapsed = Number(process.hrtime.bigint() - start);
    const expected = job.passes * (inputs[job.workload]?.length ?? 0);
    if (count !== expected) {
      throw new Error(`${job.method}: expected ${expected} inputs, found ${count}`);
    }
    return elapsed / count;
  };

  const stripper = new HeaderStripper(rules);
  const all = methods(rules, stripper, stripper, stripper);
  const results = [];
  for (const kind of /** @type {const} */ (["raw", "headers", "block"])) {
    // Headers and blocks are slower, and their workloads are compared in Node.
    const workloads = kind === "raw" ? WORKLOADS : WORKLOADS.slice(0, 1);
    const jobs = workloads.flatMap((workload) =>
      CASES[kind].map((written) => ({ kind, workload, written, passes: PASSES[kind] })),
    );
    for (const job of jobs) {
      const timed = await takeTurns(
        all[kind].map(({ name: method }) => ({
          name: method,
          time: async () => {
            await time({ ...job, method, step: "make" });
            return time({ ...job, method, step: "run" });
          },
        })),
        workerRounds[kind],
        { warmUps: WARM_UPS },
      );
      const workload = `${job.workload}${job.written}`;
      const about = { suite: `headers-workerd-${kind}`, workload, unit: "ns/request" };
      results.push(...resultsOf(about, timed, itself));
    }
  }
  await worker.dispose();
  return results;
}
