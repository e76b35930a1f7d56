// How long it takes to strip a request, by method, workload and engine.
import { floor, only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */

const WORKLOADS = ["real", "uniform", "near"];

const CLEAR = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, with 10 prefixes"),
  own("hedgerow-borrowed", "hedgerow, borrowed image"),
  rival("hashmap-foldhash", "`HashMap`, foldhash"),
  rival("hashmap-siphash", "`HashMap`, SipHash"),
  rival("phf"),
  rival("aho-corasick", "aho-corasick, DFA"),
  rival("trie-hard"),
  rival("regex", "one `regex`"),
  rival("fst"),
  rival("btreemap", "`BTreeMap`"),
  rival("radix_trie"),
  rival("loop", "loop, `remove(&HeaderName)`"),
  rival("loop-text", "loop, `remove(&str)`"),
  floor("floor-iterate", "iterate the names"),
  floor("floor-remove", "remove, matches known"),
];

/** The methods in the chart; the table has the variants and floors as well. */
const DRAWN = ["hedgerow", "hashmap-foldhash", "phf", "aho-corasick", "trie-hard", "regex", "loop"];
const SHOWN = [
  ...[...DRAWN, "hedgerow-10-prefixes", "hedgerow-borrowed", "fst"],
  ...["floor-iterate", "floor-remove"],
];

const LOOKUP = [
  ours("hedgerow, `matches_name(&HeaderName)`"),
  own("hedgerow-bytes", "hedgerow, `matches(&[u8])`"),
  own("hedgerow-10-prefixes", "hedgerow, with 10 prefixes"),
  rival("hashmap-foldhash", "`HashMap<HeaderName>`, foldhash"),
  rival("trie-hard"),
];

const RAW = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, with 10 prefixes"),
  rival("plain-table", "plain JS table"),
  rival("regexp", "one `RegExp`, `i`"),
  rival("tolowercase-set", "`toLowerCase()`, `Set`"),
  floor("floor-answer-known", "filter, matches known"),
];

const HEADERS = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, with 10 prefixes"),
  rival("iterate-plain-table", "iterate, plain JS table"),
  rival("iterate-set", "iterate, `Set`"),
  rival("iterate-regexp", "iterate, `RegExp`"),
  rival("delete-loop", "120 × `delete`"),
  floor("floor-iterate", "iterate"),
  floor("floor-iterate-and-delete-known", "delete, matches known"),
];

const BLOCK = [ours(), rival("decode-split-filter-join", "decode, split, filter, join")];

const ENGINES = [
  ["node20", "Node 20"],
  ["node24", "Node 24"],
  ["workerd", "workerd"],
];

/** @param {string} suite @param {Method[]} methods @param {string} what @returns {Comparison[]} */
const native = (suite, methods, what) =>
  WORKLOADS.map((workload) => ({
    ...{ title: `\`${workload}\``, place: `${what} of \`${workload}\``, suite, workload, methods },
  }));

/** `real` on every engine, and the other workloads on Node 24. @param {string} call @param {string} what @param {Method[]} methods @returns {Comparison[]} */
const onEngines = (call, what, methods) => [
  ...ENGINES.map(([engine, title = ""]) => {
    const place = `\`${call}\` on ${title}`;
    return { title, place, suite: `headers-${engine}-${what}`, workload: "real", methods };
  }),
  ...WORKLOADS.slice(1).map((workload) => {
    const place = `\`${call}\` of \`${workload}\` on Node 24`;
    const title = `Node 24, \`${workload}\``;
    return { title, place, suite: `headers-node24-${what}`, workload, methods };
  }),
];

const CLEARING = native("headers-clear", CLEAR, "clearing");
const LOOKING_UP = native("headers-lookup", LOOKUP, "looking up names");
const CALLS = /** @type {const} */ ([
  ["stripRaw", onEngines("stripRaw", "raw", RAW)],
  ["strip(Headers)", onEngines("strip(Headers)", "headers", HEADERS)],
  ["stripBlock", onEngines("stripBlock", "block", BLOCK)],
]);

/** @returns {import("../generate.mjs").Section} */
export function stripping() {
  const calls = CALLS.map(([call, comparisons]) => [call, { what: "ns a request", comparisons }]);
  return {
    name: "stripping",
    suite: "headers",
    answer: ({ value, times }) => {
      const clear = /** @type {const} */ (["headers-clear", "real"]);
      const raw = /** @type {const} */ (["headers-node24-raw", "real"]);
      return [
        `A request of about 20 fields takes ${value(...clear, "hedgerow")} in Rust and`,
        `${value(...raw, "hedgerow")} with \`stripRaw\` on Node 24; \`trie-hard\` takes`,
        `${times([...clear, "hedgerow"], [...clear, "trie-hard"])} as long, and a hand-written`,
        `JavaScript table ${times([...raw, "hedgerow"], [...raw, "plain-table"])}.`,
      ].join(" ");
    },
    tables: {
      native: {
        what: "ns a request",
        comparisons: CLEARING.map((comparison) => only(comparison, SHOWN)),
      },
      "look-up": { what: "ns a name", comparisons: LOOKING_UP },
      ...Object.fromEntries(calls),
    },
    charts: {
      "stripping-native": {
        title: "Clear an http::HeaderMap, native",
        lines: ["120 rules, three workloads, criterion."],
        axis: "time of a request, ns",
        log: true,
        comparisons: CLEARING.map((comparison) => only(comparison, DRAWN)),
      },
      "stripping-node24": {
        title: "Strip a request, Node 24",
        lines: ["120 rules, the workload real."],
        axis: "time of a request, ns",
        log: true,
        comparisons: CALLS.flatMap(([call, comparisons]) =>
          comparisons
            .filter(({ title }) => title === "Node 24")
            .map((one) => ({ ...one, title: call })),
        ),
      },
    },
    compared: [
      ...[...CLEARING, ...LOOKING_UP],
      ...CALLS.flatMap(([, comparisons]) => comparisons.slice(0, ENGINES.length)),
      ...CALLS.flatMap(([, comparisons]) => comparisons.slice(ENGINES.length)),
    ],
  };
}
