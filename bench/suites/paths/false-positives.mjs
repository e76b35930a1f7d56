// False positives of `bloom-filters`: `false-positives.mjs PLAN`, the plan as JSON. Prints its results as one JSON
// array. At 1e-7, which is what filters are built for unless it is said, it would take hours.
import bloomFilters from "bloom-filters";

import { summary } from "../../../scripts/lib/summary.mjs";
import { seededRandom } from "../../../tests/origin/random.mjs";

const RATES = [1e-2, 1e-4];
const COUNTS = [10, 1000, 10_000];

/** How many filters there are of each kind, so that the rate is not that of one. */
const FILTERS = 20;

/** @type {import("./plan.mjs").Plan} */
const { falsePositives } = JSON.parse(process.argv[2] ?? "");
const random = seededRandom(1);
const results = RATES.flatMap((rate) =>
  COUNTS.map((count) => ({
    suite: "paths-false-positives, bloom-filters",
    workload: `p = ${rate}, ${count} paths`,
    method: "measured rate / p",
    unit: "×",
    ...summary([measuredRate(rate, count, Math.round(falsePositives / rate)) / rate]),
  })),
);
console.log(JSON.stringify(results));

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

/** Two keys are the same once in many runs. */
function randomKey() {
  return `/${Math.floor(random() * 2 ** 32).toString(36)}/${Math.floor(random() * 2 ** 32).toString(36)}`;
}
