// How long it takes to build a filter, and how much memory.
import { ours, own, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  own("hedgerow-counted", "hedgerow, count known"),
  own("hedgerow-duplicates", "hedgerow, half of them twice"),
  rival("fastbloom"),
  rival("bloomfilter"),
];

const COUNTS = [10_000, 100_000, 1_600_000, 10_000_000];

const NATIVE = COUNTS.map((count) => ({
  title: count.toLocaleString("en"),
  place: `${count.toLocaleString("en")} paths`,
  suite: "paths-build",
  workload: `${count}`,
  methods: METHODS,
}));

const MEASURED = [10_000, 100_000, 1_000_000, 10_000_000];

/** @param {string} suite @param {string} method @param {number[]} counts */
const keys = (suite, method, counts) =>
  counts.map(
    (count) => /** @type {[string, string, string]} */ ([suite, `${count} paths`, method]),
  );

/** @returns {import("../made.mjs").Section} */
export function building() {
  return {
    name: "building",
    suite: "paths",
    tables: { native: { what: "ns a path, paths", comparisons: NATIVE } },
    given: {
      JavaScript: {
        head: [
          "ns a path, paths",
          ...COUNTS.slice(0, 3).map((count) => count.toLocaleString("en")),
        ],
        rows: ["node20", "node24"].map((engine) => ({
          says: engine.replace("node", "Node "),
          keys: keys(`paths-${engine}-build`, "hedgerow", COUNTS.slice(0, 3)),
        })),
      },
      memory: {
        head: ["bytes a path, paths", ...MEASURED.map((count) => count.toLocaleString("en"))],
        rows: ["peak", "file"].map((what) => ({
          says: what === "peak" ? "most memory, beside the paths" : "of it the file",
          keys: keys("paths-memory", `${what}, bytes a path`, MEASURED),
        })),
      },
    },
    bars: {
      "building-native": {
        title: "Build a filter of 1.6 million paths, native",
        lines: ["Paths of 60 to 70 bytes, p = 1e-7, criterion."],
        axis: "time of a path, ns",
        comparisons: NATIVE.slice(2, 3),
      },
    },
    compared: NATIVE,
  };
}
