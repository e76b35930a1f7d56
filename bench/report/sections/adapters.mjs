// What an adapter adds to a request of a framework.
import { ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../plain-table.mjs").Key} Key */

const FRAMEWORKS = ["node:http", "express", "fastify", "hono", "undici"];

/** Methods in records, by their names in tables. */
const WAYS = /** @type {const} */ ([
  ["no-op", "nothing"],
  ["no matches", "nothing internal"],
  ["headers", "headers"],
  ["headers and paths", "headers and paths"],
]);
const WAY_TITLES = WAYS.map(([title]) => title);

const METHODS = [
  ours("hedgerow, headers", "headers"),
  own("nothing internal", "hedgerow, no matches"),
  own("headers and paths", "hedgerow, headers and paths"),
  rival("nothing", "no-op middleware"),
  rival("bare", "the framework alone"),
];

const COMPARED = FRAMEWORKS.map((framework) => ({
  title: framework,
  suite: "adapters-node24, processor time",
  workload: framework,
  methods: METHODS,
}));

/** @param {string} title @param {string} suite */
const byWay = (title, suite) => ({
  head: [title, ...WAY_TITLES],
  rows: FRAMEWORKS.map((framework) => ({
    label: framework,
    keys: WAYS.map(([, way]) => /** @type {Key} */ ([`adapters-node24, ${suite}`, framework, way])),
  })),
});

/** @returns {import("../generate.mjs").Section} */
export function adapters() {
  const whats = ["processor time", "requests a second", "p50", "p99"];
  return {
    name: "adapters",
    suite: "adapters",
    answer: ({ range }) => {
      const over = (/** @type {string} */ way) =>
        range(
          FRAMEWORKS.map(
            (framework) =>
              /** @type {Key} */ (["adapters-node24, processor time over bare", framework, way]),
          ),
        );
      return [
        `Stripping headers both ways takes ${over("headers")} the processor time of the`,
        `framework alone; middleware that does nothing takes ${over("nothing")}.`,
      ].join(" ");
    },
    tables: {},
    plainTables: {
      bare: {
        head: [
          "framework alone",
          "processor time, µs",
          "requests a second",
          "median, ms",
          "99th percentile, ms",
        ],
        rows: FRAMEWORKS.map((framework) => ({
          label: framework,
          keys: whats.map((what) => [`adapters-node24, ${what}`, framework, "bare"]),
        })),
      },
      "processor time": byWay("processor time, ×", "processor time over bare"),
      "requests a second": byWay("requests a second, ×", "requests a second over bare"),
      latency: byWay("99th percentile, ms", "p99"),
    },
    charts: {
      adapters: {
        title: "Processor time of a request, Node 24",
        lines: ["20 fields, 120 rules; undici: time of the client."],
        axis: "processor time of a request, µs",
        comparisons: COMPARED,
      },
    },
    compared: COMPARED,
  };
}
