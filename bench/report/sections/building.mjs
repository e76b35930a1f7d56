// The time and memory it takes to build a filter.
import { ours, own, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  own("hedgerow-counted", "hedgerow, known count"),
  own("hedgerow-duplicates", "hedgerow, half duplicates"),
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

/** @returns {import("../generate.mjs").Section} */
export function building() {
  return {
    name: "building",
    suite: "paths",
    answer: ({ value, times }) => {
      const large = /** @type {const} */ (["paths-build", "1600000"]);
      return [
        `Building a filter of 1.6 million paths takes ${value(...large, "hedgerow")} a path in`,
        `Rust, ${value("paths-node24-build", "1600000 paths", "hedgerow")} on Node 24;`,
        `\`fastbloom\` takes ${times([...large, "hedgerow"], [...large, "fastbloom"])} as long`,
        "as the former.",
      ].join(" ");
    },
    tables: { native: { what: "native, ns a path, paths", comparisons: NATIVE } },
    plainTables: {
      JavaScript: {
        head: [
          "JavaScript, ns a path, paths",
          ...COUNTS.slice(0, 3).map((count) => count.toLocaleString("en")),
        ],
        rows: ["node20", "node24"].map((engine) => ({
          label: engine.replace("node", "Node "),
          keys: keys(`paths-${engine}-build`, "hedgerow", COUNTS.slice(0, 3)),
        })),
      },
      memory: {
        head: ["bytes a path, paths", ...MEASURED.map((count) => count.toLocaleString("en"))],
        rows: ["peak", "file"].map((what) => ({
          label: what === "peak" ? "peak memory without the paths" : "file",
          keys: keys("paths-memory", `${what}, bytes a path`, MEASURED),
        })),
      },
    },
    charts: {
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
