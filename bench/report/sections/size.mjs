// How many bytes a filter has, beside JSON, by the number of paths.
import { ours, own, rival } from "../comparison.mjs";
import { COUNTS } from "./loading.mjs";

const METHODS = [
  ours(),
  own("hedgerow, classic", "hedgerow, published size"),
  rival("json", "JSON array"),
  rival("tree", "JSON tree"),
];

const GROWTH = COUNTS.map((at) => ({
  at,
  title: at.toLocaleString("en"),
  place: `${at.toLocaleString("en")} paths`,
  suite: "paths-node24-size",
  workload: `${at} paths`,
  methods: METHODS,
}));

/** @returns {import("../made.mjs").Section} */
export function size() {
  return {
    name: "size",
    suite: "paths",
    tables: { growth: { what: "kB, paths", divide: 1000, comparisons: GROWTH } },
    lines: {
      "size-paths": {
        title: "Size of a filter or JSON, by paths",
        lines: ["One false positive in ten million."],
        axes: ["paths (logarithmic)", "size, kB"],
        divide: 1000,
        points: GROWTH,
      },
    },
    compared: GROWTH,
  };
}
