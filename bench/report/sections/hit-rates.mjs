// How many requests are hits, compared with other eviction policies.
import { ours, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  rival("lru-cache, by bytes", "`lru-cache`, by bytes"),
  rival("first in, first out"),
  rival("lru-cache, as many as fit on average", "`lru-cache`, mean count"),
  rival("lru-cache, as many as fit at worst", "`lru-cache`, safe count"),
];

const TRACES = [
  "Zipf, exponent 0.8",
  "Zipf, exponent 1",
  "Zipf, exponent 1.2",
  "8 base images, 97 % of requests",
];

const SHARES = [5, 10, 25, 50];

const SUITE = "cache-node20, hit rate";

/** @param {string} trace @param {number} share */
const hitsOf = (trace, share) => ({
  title: `${share} %`,
  place: `${trace}, ${share} % of the bytes`,
  suite: SUITE,
  workload: `${trace}, ${share} % of the bytes`,
  methods: METHODS,
  better: /** @type {const} */ ("more"),
});

const BY_SHARE = SHARES.map((share) => hitsOf("Zipf, exponent 1", share));

/** @returns {import("../generate.mjs").Section} */
export function hitRates() {
  return {
    name: "hit rates",
    suite: "cache",
    answer: ({ value, times }) => {
      const quarter = /** @type {const} */ ([SUITE, "Zipf, exponent 1, 25 % of the bytes"]);
      return [
        `A cache with room for a quarter of the bytes serves ${value(...quarter, "hedgerow")}`,
        "of requests that follow Zipf’s law as hits; `lru-cache` by bytes serves",
        `${times([...quarter, "hedgerow"], [...quarter, "lru-cache, by bytes"])} as many.`,
      ].join(" ");
    },
    tables: {
      "by size": { what: "% hits, Zipf’s exponent 1, cache of", comparisons: BY_SHARE },
      "by trace": {
        what: "% hits, cache of 25 %",
        comparisons: TRACES.map((trace) => ({
          ...hitsOf(trace, 25),
          title: trace.replace(", 97 % of requests", ""),
        })),
      },
    },
    plainTables: {
      limits: {
        head: ["peak bytes over the limit, ×", ...SHARES.map((share) => `${share} %`)],
        rows: TRACES.map((trace) => ({
          label: trace,
          keys: SHARES.map((share) => [
            "cache-node20, most bytes over the limit",
            `${trace}, ${share} % of the bytes`,
            "lru-cache, as many as fit on average",
          ]),
        })),
      },
    },
    charts: {
      "hit-rates-zipf": {
        title: "Hits, by size of the cache",
        lines: ["Zipf’s law, exponent 1. Groups: share of all bytes.", "More is better."],
        axis: "requests that are hits, %",
        comparisons: BY_SHARE.map((one) => ({ ...one, title: `a cache of ${one.title}` })),
      },
    },
    compared: TRACES.flatMap((trace) => SHARES.map((share) => hitsOf(trace, share))),
  };
}
