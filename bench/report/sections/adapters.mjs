// What adapters add to a request of a framework.
import { ours, own, rival } from "../comparison.mjs";

/** @typedef {[suite: string, workload: string, method: string]} Key */

const FRAMEWORKS = ["node:http", "express", "fastify", "hono", "undici"];

const WAYS = ["nothing", "nothing internal", "headers", "headers and paths"];

const METHODS = [
  ours("hedgerow, headers", "headers"),
  own("nothing internal", "hedgerow, nothing internal"),
  own("headers and paths", "hedgerow, headers and paths"),
  rival("nothing", "middleware that does nothing"),
  rival("bare", "the framework alone"),
];

const COMPARED = FRAMEWORKS.map((framework) => ({
  title: framework,
  suite: "adapters-node24, processor time",
  workload: framework,
  methods: METHODS,
}));

/** @param {string} what */
const beside = (what) => ({
  head: ["× the framework alone", ...WAYS],
  spreads: true,
  rows: FRAMEWORKS.map((framework) => ({
    says: framework,
    keys: WAYS.map(
      (way) => /** @type {Key} */ ([`adapters-node24, ${what} over bare`, framework, way]),
    ),
  })),
});

/** @returns {import("../made.mjs").Section} */
export function adapters() {
  const whats = ["processor time", "requests a second", "p50", "p99"];
  return {
    name: "adapters",
    suite: "adapters",
    tables: {},
    given: {
      bare: {
        head: [
          "alone",
          "µs of a processor",
          "requests a second",
          "median, ms",
          "99th percentile, ms",
        ],
        rows: FRAMEWORKS.map((framework) => ({
          says: framework,
          keys: whats.map((what) => [`adapters-node24, ${what}`, framework, "bare"]),
        })),
      },
      "processor time": beside("processor time"),
      "requests a second": beside("requests a second"),
      latency: {
        head: ["99th percentile, ms", ...WAYS],
        rows: FRAMEWORKS.map((framework) => ({
          says: framework,
          keys: WAYS.map((way) => ["adapters-node24, p99", framework, way]),
        })),
      },
    },
    bars: {
      adapters: {
        title: "Processor time of a request, Node 24",
        lines: ["20 fields, 120 rules; of undici, the client’s."],
        axis: "processor time of a request, µs",
        comparisons: COMPARED,
      },
    },
    compared: COMPARED,
  };
}
