// How the time of a look-up grows with the number of rules.
import { ours, rival } from "../comparison.mjs";

/** @typedef {import("../plain-table.mjs").Key} Key */

const COUNTS = [10, 120, 1000, 10_000];

const NATIVE = [
  ours(),
  rival("hashmap-foldhash", "`HashMap`, foldhash"),
  rival("trie-hard"),
  rival("fst"),
  rival("regex", "one `regex`"),
];

const NODE = [
  ours(),
  rival("plain-table", "plain JS table"),
  rival("regexp", "one `RegExp`, `i`"),
  rival("tolowercase-set", "`toLowerCase()`, `Set`"),
];

/** @param {string} suite @param {import("../comparison.mjs").Method[]} methods @param {string} where */
const growth = (suite, methods, where) =>
  COUNTS.map((count) => ({
    title: count.toLocaleString("en"),
    place: `${where}, ${count.toLocaleString("en")} rules`,
    suite,
    workload: `${count} rules`,
    methods,
  }));

const LOOKUP = growth("headers-growth-lookup", NATIVE, "native");
const RAW = growth("headers-node24-growth", NODE, "Node 24");

/** @returns {import("../generate.mjs").Section} */
export function rules() {
  const keys = (/** @type {string} */ suite) =>
    COUNTS.map((count) => /** @type {Key} */ ([suite, `${count} rules`, "hedgerow"]));
  return {
    name: "rules",
    suite: "headers",
    answer: ({ value }) => {
      const at = (/** @type {number} */ count) =>
        value("headers-growth-lookup", `${count} rules`, "hedgerow");
      return `Looking up a name takes ${at(10)} with 10 rules and ${at(10_000)} with 10,000.`;
    },
    tables: {
      native: { what: "native, ns a name", comparisons: LOOKUP },
      "Node 24": { what: "`stripRaw`, Node 24, ns a request", comparisons: RAW },
    },
    plainTables: {
      image: {
        head: ["compiled set", ...COUNTS.map((count) => count.toLocaleString("en"))],
        rows: [
          { label: "size, bytes", keys: keys("headers-growth-image") },
          { label: "time to compile, µs", keys: keys("headers-growth-compile"), divide: 1000 },
        ],
      },
    },
    charts: {
      "rules-native": {
        title: "Look up a name among more rules, native",
        lines: ["Groups: number of rules. Names of the workload real."],
        axis: "time of a name, ns",
        log: true,
        comparisons: LOOKUP.map((one) => ({ ...one, title: `${one.title} rules` })),
      },
    },
    compared: [...LOOKUP, ...RAW],
  };
}
