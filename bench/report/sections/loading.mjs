// How long it takes to load a filter and check one path.
import { ours, own, rival } from "../comparison.mjs";

export const COUNTS = [1000, 10_000, 24_441, 100_000];

const METHODS = [
  ours(),
  own("hedgerow, trusted", "hedgerow, `validate: false`"),
  own("hedgerow, classic", "hedgerow, classic sizing"),
  own("hedgerow, classic, trusted", "hedgerow, both options"),
  own("hedgerow, from a file, trusted", "`readPathFilterSync`"),
  rival("plain JS reader"),
  rival("JSON.parse + Set", "`JSON.parse`, `Set`"),
  rival("JSON tree, parsed", "`JSON.parse` of a tree"),
  own("PathSet", "`PathSet.parse`"),
];

/** The methods that are measured for every number of paths. */
const GROWN = ["hedgerow", "hedgerow, trusted", "JSON.parse + Set", "JSON tree, parsed"];

const ONE_SITE = ["node20", "node24"].map((engine) => ({
  title: engine.replace("node", "Node "),
  place: `24,441 paths, ${engine.replace("node", "Node ")}`,
  suite: `paths-${engine}-load`,
  workload: "24441 paths",
  methods: METHODS,
}));

const GROWTH = COUNTS.map((count) => ({
  title: count.toLocaleString("en"),
  suite: "paths-node24-load",
  workload: `${count} paths`,
  methods: METHODS.filter(({ method }) => GROWN.includes(method)),
}));

/** @returns {import("../generate.mjs").Section} */
export function loading() {
  return {
    name: "loading",
    suite: "paths",
    answer: ({ value, times }) => {
      const site = /** @type {const} */ (["paths-node24-load", "24441 paths"]);
      return [
        `A filter of 24,441 paths answers its first query after ${value(...site, "hedgerow")}`,
        "on Node 24; `JSON.parse` and a `Set` take",
        `${times([...site, "hedgerow"], [...site, "JSON.parse + Set"])} as long.`,
      ].join(" ");
    },
    tables: {
      "one site": { what: "µs, 24,441 paths", divide: 1000, comparisons: ONE_SITE },
      growth: { what: "µs on Node 24, paths", divide: 1000, comparisons: GROWTH },
    },
    charts: {
      "loading-methods": {
        title: "Load 24,441 paths, check one",
        lines: ["Node 24."],
        axis: "time, µs",
        log: true,
        divide: 1000,
        comparisons: ONE_SITE.slice(1),
      },
    },
    compared: [...ONE_SITE, ...GROWTH.filter(({ title }) => title !== "24,441")],
  };
}
