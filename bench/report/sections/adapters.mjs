// The suite `adapters`: what an adapter adds to a request of a framework.
import { ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../figures.mjs").Key} Key */

const FRAMEWORKS = ["node:http", "express", "fastify", "hono", "undici"];

/** Methods in records, by their names in tables. */
const WAYS = {
  "no-op": "nothing",
  "no matches": "nothing internal",
  "own code": "set",
  headers: "headers",
  "headers and paths": "headers and paths",
};

/** @param {string} what @param {string} framework @param {string} way @returns {Key} */
const key = (what, framework, way) => [`adapters-node24, ${what}`, framework, way];

/** The rivals without work are baselines rather than alternatives. */
const COMPARED = FRAMEWORKS.map((framework) => ({
  title: framework,
  suite: "adapters-node24, processor time",
  workload: framework,
  methods: [
    ours("hedgerow, headers", "headers"),
    own("nothing internal", "hedgerow, no matches"),
    own("headers and paths", "hedgerow, headers and paths"),
    rival("set", "own code: a `Set` and loops"),
    rival("nothing", "no-op middleware"),
    rival("bare", "the framework alone"),
  ],
}));

/**
 * A table by framework and way, after figures of the framework alone.
 *
 * @param {string} title
 * @param {string} what
 * @param {Record<string, string>} alone names in records by titles
 */
const byWay = (title, what, alone) => ({
  head: [title, ...Object.keys(alone), ...Object.keys(WAYS)],
  rows: FRAMEWORKS.map((framework) => ({
    label: framework,
    keys: [
      ...Object.values(alone).map((measured) => key(measured, framework, "bare")),
      ...Object.values(WAYS).map((way) => key(what, framework, way)),
    ],
  })),
});

/** @type {import("../generate.mjs").Section} */
export const ADAPTERS = {
  name: "adapters",
  suite: "adapters",
  answer: ({ range }) => {
    const over = (/** @type {string} */ way) =>
      range(FRAMEWORKS.map((framework) => key("processor time over bare", framework, way)));
    return `Stripping headers both ways takes ${over("headers")} the processor time of the framework
      alone; middleware that does nothing takes ${over("nothing")}.`;
  },
  chart: {
    title: "Processor time of a request, Node 24",
    lines: ["20 fields, 120 rules; undici: time of the client."],
    axis: "processor time of a request, µs",
    comparisons: COMPARED,
  },
  tables: {
    "processor time": byWay("processor time, ×", "processor time over bare", {
      "alone, µs": "processor time",
    }),
    "requests a second": byWay("requests a second, ×", "requests a second over bare", {
      alone: "requests a second",
    }),
    latency: byWay("99th percentile, ms", "p99", { "median, alone": "p50", alone: "p99" }),
  },
  compared: COMPARED,
};
