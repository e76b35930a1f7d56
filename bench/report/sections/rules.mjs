// How looking up grows with the number of rules.
import { ours, rival } from "../comparison.mjs";

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
  COUNTS.map((at) => ({
    at,
    title: at.toLocaleString("en"),
    place: `${where}, ${at.toLocaleString("en")} rules`,
    suite,
    workload: `${at} rules`,
    methods,
  }));

const LOOKUP = growth("headers-growth-lookup", NATIVE, "native");
const RAW = growth("headers-node24-growth", NODE, "Node 24");

/** @returns {import("../made.mjs").Section} */
export function rules() {
  const keys = (/** @type {string} */ suite) =>
    COUNTS.map(
      (count) => /** @type {[string, string, string]} */ ([suite, `${count} rules`, "hedgerow"]),
    );
  return {
    name: "rules",
    suite: "headers",
    tables: {
      native: { what: "ns a name", comparisons: LOOKUP },
      "Node 24": { what: "ns a request", comparisons: RAW },
    },
    given: {
      image: {
        head: ["", ...COUNTS.map((count) => count.toLocaleString("en"))],
        rows: [
          { says: "image, bytes", keys: keys("headers-growth-image") },
          { says: "compile, µs", keys: keys("headers-growth-compile"), divide: 1000 },
        ],
      },
    },
    lines: {
      "rules-native": {
        title: "Look up a name among more rules, native",
        lines: ["Names of the workload real."],
        axes: ["rules (logarithmic)", "time of a name, ns"],
        points: LOOKUP,
      },
      "rules-node24": {
        title: "stripRaw with more rules, Node 24",
        lines: ["Requests of the workload real."],
        axes: ["rules (logarithmic)", "time of a request, ns"],
        points: RAW,
      },
    },
    compared: [...LOOKUP, ...RAW],
  };
}
