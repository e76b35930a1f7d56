// Building filters of more and more paths.
import { buildPathFilter } from "hedgerow";

import { summary } from "../../../scripts/lib/summary.mjs";

const COUNTS = [10_000, 100_000, 1_600_000];

/**
 * @param {import("./site.mjs").Site} site
 * @param {import("./plan.mjs").Plan} plan
 */
export function measureBuilding({ paths }, { builds }) {
  return COUNTS.map((count) => {
    const all = Array.from(
      { length: count },
      (_, index) => `/${index}${paths[index % paths.length]}`,
    );
    const samples = [];
    for (let round = 0; round < builds; round += 1) {
      const start = process.hrtime.bigint();
      buildPathFilter(all);
      samples.push(Number(process.hrtime.bigint() - start) / count);
    }
    return { workload: `${count} paths`, ...summary(samples) };
  });
}
