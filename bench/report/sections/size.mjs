// The size of a filter and of JSON, by the number of paths.
import { ours, own, rival } from "../comparison.mjs";
import { COUNTS } from "./loading.mjs";

const METHODS = [
  ours(),
  own("hedgerow, classic", "hedgerow, classic sizing"),
  rival("json", "JSON array"),
  rival("tree", "JSON tree"),
];

const GROWTH = COUNTS.map((count) => ({
  title: count.toLocaleString("en"),
  place: `${count.toLocaleString("en")} paths`,
  suite: "paths-node24-size",
  workload: `${count} paths`,
  methods: METHODS,
}));

/** @returns {import("../generate.mjs").Section} */
export function size() {
  return {
    name: "size",
    suite: "paths",
    answer: ({ value, times }) => {
      const site = /** @type {const} */ (["paths-node24-size", "24441 paths"]);
      return [
        `A filter of 24,441 paths takes ${value(...site, "hedgerow")}; as a JSON array, they`,
        `take ${times([...site, "hedgerow"], [...site, "json"])} as much.`,
      ].join(" ");
    },
    tables: { growth: { what: "kB, paths", divide: 1000, comparisons: GROWTH } },
    charts: {
      "size-paths": {
        title: "Size of a filter and of JSON",
        lines: ["Groups: number of paths. p = 1e-7."],
        axis: "size, kB",
        log: true,
        divide: 1000,
        comparisons: GROWTH.map((one) => ({ ...one, title: `${one.title} paths` })),
      },
    },
    compared: GROWTH,
  };
}
