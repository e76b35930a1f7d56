// How many requests are hits, beside other ways to choose what goes.
import { ours, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  rival("lru-cache, by bytes", "`lru-cache`, by bytes"),
  rival("first in, first out"),
  rival("lru-cache, as many as fit on average", "`lru-cache`, mean count"),
  rival("lru-cache, as many as fit at worst", "`lru-cache`, least count"),
];

const TRACES = [
  "Zipf, exponent 0.8",
  "Zipf, exponent 1",
  "Zipf, exponent 1.2",
  "8 base images, 97 % of requests",
];

const SHARES = [5, 10, 25, 50];

const SUITE = "cache-node20, hit rate";

/** @param {string} trace */
const byShare = (trace) =>
  SHARES.map((at) => ({
    at,
    title: `${at} %`,
    place: `${trace}, ${at} % of the bytes`,
    suite: SUITE,
    workload: `${trace}, ${at} % of the bytes`,
    methods: METHODS,
    better: /** @type {const} */ ("more"),
  }));

const AVERAGE = "lru-cache, as many as fit on average";

/** @returns {import("../made.mjs").Section} */
export function hitRates() {
  const tables = TRACES.map((trace) => [
    trace,
    { what: "% hits, cache of", comparisons: byShare(trace) },
  ]);
  return {
    name: "hit rates",
    suite: "cache",
    tables: Object.fromEntries(tables),
    given: {
      limits: {
        head: ["most bytes over the limit, ×", ...SHARES.map((share) => `${share} %`)],
        rows: TRACES.map((trace) => ({
          says: trace,
          keys: SHARES.map((share) => [
            "cache-node20, most bytes over the limit",
            `${trace}, ${share} % of the bytes`,
            AVERAGE,
          ]),
        })),
      },
    },
    lines: {
      "hit-rates-zipf": {
        title: "Hits, by how much the cache may hold",
        lines: ["Zipf’s law, exponent 1; more is better."],
        axes: ["size of the cache, % of all bytes", "requests that are hits, %"],
        log: false,
        logAcross: false,
        points: byShare("Zipf, exponent 1"),
      },
    },
    compared: TRACES.flatMap(byShare),
  };
}
