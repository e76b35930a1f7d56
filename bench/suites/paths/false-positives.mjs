// Measures the false positives of `bloom-filters`. The default rate of 1e-7 would take hours.
import bloomFilters from "bloom-filters";

import { seededRandom } from "../../../tests/origin/random.mjs";
import { result } from "../../harness/results.mjs";

const RATES = [1e-2, 1e-4];
const COUNTS = [10, 1000, 10_000];

/** The number of filters whose rates are averaged. */
const FILTERS = 20;

const random = seededRandom(1);

/** @param {import("./suite.mjs").Plan} plan */
export function measure({ falsePositives }) {
  return RATES.flatMap((rate) =>
    COUNTS.map((count) => {
      const workload = `p = ${rate}, ${count} paths`;
      const about = { suite: "paths-false-positives, bloom-filters", workload, unit: "×" };
      const measured = measuredRate(rate, count, Math.round(falsePositives / rate));
      return result(about, "measured rate / p", [measured / rate]);
    }),
  );
}

/** @param {number} rate @param {number} count @param {number} queries */
function measuredRate(rate, count, queries) {
  const each = Math.ceil(queries / FILTERS);
  let present = 0;
  for (let number = 0; number < FILTERS; number += 1) {
    const filter = bloomFilters.BloomFilter.from(Array.from({ length: count }, randomKey), rate);
    for (let query = 0; query < each; query += 1) if (filter.has(randomKey())) present += 1;
  }
  return present / (FILTERS * each);
}

/** Collisions are negligible. */
function randomKey() {
  return `/${Math.floor(random() * 2 ** 32).toString(36)}/${Math.floor(random() * 2 ** 32).toString(36)}`;
}
