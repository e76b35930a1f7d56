// How long it takes to ask for a path, and to build what is asked.
import { ours, own, rival } from "../comparison.mjs";

const NATIVE = [
  ours(),
  own("hedgerow-classic", "hedgerow, published size"),
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

/** @returns {import("../made.mjs").Section} */
export function asking() {
  return {
    name: "asking",
    suite: "paths",
    tables: {
      native: { what: "ns a path", comparisons: QUERIES },
      JavaScript: { what: "ns a path", comparisons: HAS },
    },
    given: {
      parts: {
        head: ["", "ns"],
        rows: [
          { says: "two hashes of 60 bytes", keys: [["paths-hash", "60 bytes", "hedgerow"]] },
          {
            says: "the same by `xxhash-rust`",
            keys: [["paths-hash", "60 bytes", "xxhash-rust, twice"]],
          },
          { says: "parse a filter of 24,441 paths", keys: [["paths-parse", "24k", "hedgerow"]] },
          { says: "the same, trusted", keys: [["paths-parse", "24k", "hedgerow-trusted"]] },
        ],
      },
    },
    bars: {
      "asking-native": {
        title: "Ask for a path, native",
        lines: ["Of 20,000 or 1.6 million, p = 1e-7, criterion."],
        axis: "time of a path, ns",
        comparisons: QUERIES,
      },
      "asking-node24": {
        title: "Ask for a path, JavaScript",
        lines: ["Fresh strings, half of them absent."],
        axis: "time of a path, ns",
        log: true,
        comparisons: HAS,
      },
    },
    compared: [...QUERIES, ...HAS],
  };
}
