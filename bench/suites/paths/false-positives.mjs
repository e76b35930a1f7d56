// Measures the false positives of `bloom-filters`: `false-positives.mjs PLAN` with the plan as JSON. Prints its results as
// a JSON array. The default rate of 1e-7 would take hours.
import bloomFilters from "bloom-filters";

import { summary } from "../../../scripts/lib/summary.mjs";
import { seededRandom } from "../../../tests/origin/random.mjs";

const RATES = [1e-2, 1e-4];
const COUNTS = [10, 1000, 10_000];

/** The number of filters whose rates are averaged. */
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

/** Collisions are negligible. */
function randomKey() {
  return `/${Math.floor(random() * 2 ** 32).toString(36)}/${Math.floor(random() * 2 ** 32).toString(36)}`;
}
