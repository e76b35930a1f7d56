// How long it takes to strip a request, by method and workload: native, on Node, in workerd.
import { floor, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */

const WORKLOADS = ["real", "uniform", "near"];

const CLEAR = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, ten prefixes too"),
  own("hedgerow-borrowed", "hedgerow, image borrowed"),
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
  floor("floor-remove", "remove, told which"),
];

/** Of them, those that a chart has room for. */
const DRAWN = ["hedgerow", "hashmap-foldhash", "phf", "aho-corasick", "trie-hard", "regex", "loop"];

const LOOKUP = [
  ours("hedgerow, `matches_name(&HeaderName)`"),
  own("hedgerow-bytes", "hedgerow, `matches(&[u8])`"),
  own("hedgerow-10-prefixes", "hedgerow, ten prefixes too"),
  rival("hashmap-foldhash", "`HashMap<HeaderName>`, foldhash"),
  rival("trie-hard"),
];

const RAW = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, ten prefixes too"),
  rival("plain-table", "plain JS table"),
  rival("regexp", "one `RegExp`, `i`"),
  rival("tolowercase-set", "`toLowerCase()`, `Set`"),
  floor("floor-answer-known", "filter, told which"),
];

const HEADERS = [
  ours(),
  own("hedgerow-10-prefixes", "hedgerow, ten prefixes too"),
  rival("iterate-plain-table", "iterate, plain JS table"),
  rival("iterate-set", "iterate, `Set`"),
  rival("iterate-regexp", "iterate, `RegExp`"),
  rival("delete-loop", "120 × `delete`"),
  floor("floor-iterate", "iterate"),
  floor("floor-iterate-and-delete-known", "delete, told which"),
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

/** @param {string} call @param {string} what @param {Method[]} methods @returns {Comparison[]} */
const onEngines = (call, what, methods) =>
  ENGINES.map(([engine, title = ""]) => {
    const place = `\`${call}\` on ${title}`;
    return { title, place, suite: `headers-${engine}-${what}`, workload: "real", methods };
  });

/** @param {string} call @param {string} what @param {Method[]} methods @returns {Comparison[]} */
const onNode24 = (call, what, methods) =>
  WORKLOADS.map((workload) => {
    const place = `\`${call}\` of \`${workload}\` on Node 24`;
    return { title: `\`${workload}\``, place, suite: `headers-node24-${what}`, workload, methods };
  });

const CLEARING = native("headers-clear", CLEAR, "clearing");
const LOOKING_UP = native("headers-lookup", LOOKUP, "looking up names");
const CALLS = /** @type {const} */ ([
  ["stripRaw", onEngines("stripRaw", "raw", RAW)],
  ["strip(Headers)", onEngines("strip(Headers)", "headers", HEADERS)],
  ["stripBlock", onEngines("stripBlock", "block", BLOCK)],
]);

const BY_WORKLOAD = /** @type {const} */ ([
  ["stripRaw, workloads", onNode24("stripRaw", "raw", RAW)],
  ["strip(Headers), workloads", onNode24("strip(Headers)", "headers", HEADERS)],
  ["stripBlock, workloads", onNode24("stripBlock", "block", BLOCK)],
]);
const [[, RAW_BY_WORKLOAD]] = BY_WORKLOAD;

/** @param {string} engine the title of one */
function drawnOn(engine) {
  return CALLS.flatMap(([call, comparisons]) =>
    comparisons.filter(({ title }) => title === engine).map((one) => ({ ...one, title: call })),
  );
}

/** @returns {import("../made.mjs").Section} */
export function stripping() {
  const calls = [...CALLS, ...BY_WORKLOAD].map(([call, comparisons]) => [
    call,
    { what: "ns a request", comparisons },
  ]);
  return {
    name: "stripping",
    suite: "headers",
    tables: {
      native: { what: "ns a request", comparisons: CLEARING },
      "look-up": { what: "ns a name", comparisons: LOOKING_UP },
      ...Object.fromEntries(calls),
    },
    bars: {
      "stripping-native": {
        title: "Clear an http::HeaderMap, native",
        lines: ["120 rules, three workloads, criterion."],
        axis: "time of a request, ns",
        log: true,
        comparisons: CLEARING.map((one) => ({
          ...one,
          methods: CLEAR.filter(({ method }) => DRAWN.includes(method)),
        })),
      },
      "stripping-node24": {
        title: "Strip a request, Node 24",
        lines: ["120 rules, the workload real."],
        axis: "time of a request, ns",
        log: true,
        comparisons: drawnOn("Node 24"),
      },
      "stripping-workloads": {
        title: "stripRaw of three workloads, Node 24",
        lines: ["120 rules."],
        axis: "time of a request, ns",
        log: true,
        comparisons: RAW_BY_WORKLOAD,
      },
      "stripping-workerd": {
        title: "Strip a request, workerd",
        lines: ["120 rules, the workload real."],
        axis: "time of a request, ns",
        log: true,
        comparisons: drawnOn("workerd"),
      },
    },
    compared: [
      ...[...CLEARING, ...LOOKING_UP],
      ...CALLS.flatMap(([, comparisons]) => comparisons),
      ...BY_WORKLOAD.flatMap(([, comparisons]) =>
        comparisons.filter(({ workload }) => workload !== "real"),
      ),
    ],
  };
}
