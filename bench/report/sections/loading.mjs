// How long it takes to load a filter and ask once, beside JSON, by the number of paths.
import { ours, own, rival } from "../comparison.mjs";

export const COUNTS = [1000, 10_000, 24_441, 100_000];

const METHODS = [
  ours(),
  own("hedgerow, trusted", "hedgerow, `validate: false`"),
  own("hedgerow, classic", "hedgerow, published size"),
  own("hedgerow, classic, trusted", "hedgerow, both of these"),
  own("hedgerow, from a file, trusted", "`readPathFilterSync`"),
  rival("plain JS reader", "plain JS reader"),
  rival("JSON.parse + Set", "`JSON.parse`, `Set`"),
  rival("JSON tree, parsed", "`JSON.parse` of a tree"),
  own("PathSet", "`PathSet.parse`"),
];

const GROWN = ["hedgerow", "hedgerow, trusted", "JSON.parse + Set", "JSON tree, parsed"];

const ONE_SITE = ["node20", "node24"].map((engine) => ({
  title: engine.replace("node", "Node "),
  place: `24,441 paths, ${engine.replace("node", "Node ")}`,
  suite: `paths-${engine}-load`,
  workload: "24441 paths",
  methods: METHODS,
}));

const GROWTH = COUNTS.map((at) => ({
  at,
  title: at.toLocaleString("en"),
  suite: "paths-node24-load",
  workload: `${at} paths`,
  methods: METHODS.filter(({ method }) => GROWN.includes(method)),
}));

/** @returns {import("../made.mjs").Section} */
export function loading() {
  return {
    name: "loading",
    suite: "paths",
    tables: {
      "one site": { what: "µs, 24,441 paths", divide: 1000, comparisons: ONE_SITE },
      growth: { what: "µs, paths", divide: 1000, comparisons: GROWTH },
    },
    bars: {
      "loading-methods": {
        title: "Load what says which paths exist, ask once",
        lines: ["24,441 paths, Node 24."],
        axis: "time, µs",
        log: true,
        divide: 1000,
        comparisons: ONE_SITE.slice(1),
      },
    },
    lines: {
      "loading-paths": {
        title: "Load a filter or JSON, by paths",
        lines: ["Node 24, and asked once."],
        axes: ["paths (logarithmic)", "time, µs"],
        divide: 1000,
        points: GROWTH,
      },
    },
    compared: [...ONE_SITE, ...GROWTH.filter(({ at }) => at !== 24_441)],
  };
}
