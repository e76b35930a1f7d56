// How long it takes to check a path.
import { ours, own, rival } from "../comparison.mjs";

const NATIVE = [
  ours(),
  own("hedgerow-classic", "hedgerow, classic sizing"),
  rival("fastbloom", "fastbloom, SipHash"),
  rival("fastbloom-foldhash", "fastbloom, foldhash"),
  rival("bloomfilter"),
  rival("hashset-siphash", "`HashSet`, SipHash"),
  rival("hashset-foldhash", "`HashSet`, foldhash"),
];

const NODE = [
  ours(),
  rival("Set.has", "`Set.has`"),
  rival("bloom-filters", "`bloom-filters`"),
  rival("plain JS reader", "plain JS reader, xxhashjs"),
];

const QUERIES = [
  ["20k absent", "20k absent"],
  ["20k present", "20k present"],
  ["20k mixed", "20k mixed"],
  ["1600k mixed", "1.6M mixed"],
].map(([workload = "", title = ""]) => ({
  ...{ title, place: `native, ${title}`, suite: "paths-query", workload, methods: NATIVE },
}));

const HAS = ["node20", "node24"].map((engine) => ({
  title: engine.replace("node", "Node "),
  suite: `paths-${engine}-has`,
  workload: "60 bytes, half of them absent",
  methods: NODE,
}));

/** @returns {import("../generate.mjs").Section} */
export function asking() {
  return {
    name: "asking",
    suite: "paths",
    answer: ({ value, times }) => {
      const has = /** @type {const} */ (["paths-node24-has", "60 bytes, half of them absent"]);
      const native = /** @type {const} */ (["paths-query", "20k mixed"]);
      return [
        `A check takes ${value(...has, "hedgerow")} on Node 24, where \`Set.has\` takes`,
        `${times([...has, "hedgerow"], [...has, "Set.has"])} as long, and`,
        `${value(...native, "hedgerow")} in Rust, where \`fastbloom\` with its default hash`,
        `takes ${times([...native, "hedgerow"], [...native, "fastbloom"])} as long.`,
      ].join(" ");
    },
    tables: {
      native: { what: "native, ns a path", comparisons: QUERIES },
      JavaScript: { what: "JavaScript, ns a path", comparisons: HAS },
    },
    plainTables: {
      parts: {
        head: ["one step, native", "ns"],
        rows: [
          { label: "two hashes of 60 bytes", keys: [["paths-hash", "60 bytes", "hedgerow"]] },
          {
            label: "two hashes, `xxhash-rust`",
            keys: [["paths-hash", "60 bytes", "xxhash-rust, twice"]],
          },
          { label: "parse a filter of 24,441 paths", keys: [["paths-parse", "24k", "hedgerow"]] },
          { label: "parse it, trusted", keys: [["paths-parse", "24k", "hedgerow-trusted"]] },
        ],
      },
    },
    charts: {
      "asking-native": {
        title: "Check a path, native",
        lines: ["Of 20,000 or 1.6 million paths, p = 1e-7, criterion."],
        axis: "time of a path, ns",
        comparisons: QUERIES,
      },
    },
    compared: [...QUERIES, ...HAS],
  };
}
