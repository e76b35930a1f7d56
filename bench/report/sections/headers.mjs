// The suite `headers`: stripping requests, and looking up names among more rules.
import { byCount, floor, only, ours, own, rival } from "../comparison.mjs";
import { grouped } from "../format.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */

const WORKLOADS = ["real", "uniform", "near"];
const PREFIXES = own("hedgerow-10-prefixes", "hedgerow, with 10 prefixes");
const KEEP = own("hedgerow-keep", 'hedgerow, `mode: "keep"`');

const CLEAR = [
  ...[ours(), PREFIXES, KEEP],
  ...[own("hedgerow-borrowed", "hedgerow, borrowed image")],
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

const DRAWN = ["hedgerow", "hashmap-foldhash", "phf", "aho-corasick", "trie-hard", "regex", "loop"];
const TABLED = CLEAR.map(({ method }) => method).filter(
  (method) => !["hashmap-siphash", "btreemap", "radix_trie", "loop-text"].includes(method),
);

const LOOKUP = [
  ours("hedgerow, `matches_name(&HeaderName)`"),
  own("hedgerow-bytes", "hedgerow, `matches(&[u8])`"),
  PREFIXES,
  rival("hashmap-foldhash", "`HashMap<HeaderName>`, foldhash"),
  rival("trie-hard"),
];

const RIVALS_ON_LISTS = [
  rival("plain-table", "plain JS table"),
  rival("regexp", "one `RegExp`, `i`"),
  rival("tolowercase-set", "`toLowerCase()`, `Set`"),
];

const LIST = [
  ...[ours(), PREFIXES, KEEP, ...RIVALS_ON_LISTS],
  rival("comparing-table", "plain JS table, exact match first"),
  floor("floor-answer-known", "filter, matches known"),
];

const HEADERS = [
  ...[ours(), PREFIXES, KEEP],
  rival("iterate-plain-table", "iterate, plain JS table"),
  rival("iterate-comparing-table", "iterate, plain JS table, exact match first"),
  rival("iterate-set", "iterate, `Set`"),
  rival("iterate-regexp", "iterate, `RegExp`"),
  rival("delete-loop", "120 × `delete`"),
  floor("floor-iterate", "iterate"),
  floor("floor-iterate-and-delete-known", "delete, matches known"),
];

const BLOCK = [ours(), KEEP, rival("decode-split-filter-join", "decode, split, filter, join")];

/** @param {string} suite @param {Method[]} methods @param {string} what @returns {Comparison[]} */
const native = (suite, methods, what) =>
  WORKLOADS.map((workload) => ({
    ...{ title: `\`${workload}\``, place: `${what} of \`${workload}\``, suite, workload, methods },
  }));

/** Returns the name of a suite in records. @param {string} engine @param {string} what */
const suiteOf = (engine, what) => `headers-${engine.toLowerCase().replace(" ", "")}-${what}`;

/**
 * Workloads on both versions of Node.
 *
 * @param {string} call
 * @param {string} what
 * @param {Method[]} methods
 * @param {string[]} workloads
 * @returns {Comparison[]}
 */
const onNode = (call, what, methods, workloads) =>
  workloads.flatMap((workload) =>
    [20, 24].map((version) => {
      const place = `\`${call}\` of \`${workload}\` on Node ${version}`;
      const title = `Node ${version}, \`${workload}\``;
      return { title, place, suite: `headers-node${version}-${what}`, workload, methods };
    }),
  );

/**
 * Raw lists on the engines in which nothing else is measured, and in workerd, except those of {@link onEngines}.
 *
 * @param {string[]} workloads
 * @returns {Comparison[]}
 */
const onOthers = (workloads) =>
  ["Node 22", "Node 26", "Deno", "Bun", "workerd"].flatMap((engine) =>
    workloads.flatMap((workload) => {
      if (engine === "workerd" && workload === "real") return [];
      const place = `\`stripRaw\` of \`${workload}\` on ${engine}`;
      const suite = suiteOf(engine, "raw");
      return { title: `${engine}, \`${workload}\``, place, suite, workload, methods: LIST };
    }),
  );

/**
 * `real` on every engine, and the other workloads on Node.
 *
 * @param {string} call
 * @param {string} what
 * @param {Method[]} methods
 * @returns {Comparison[]}
 */
const onEngines = (call, what, methods) => [
  ...["Node 20", "Node 24", "workerd"].map((title) => {
    const suite = suiteOf(title, what);
    return { title, place: `\`${call}\` on ${title}`, suite, workload: "real", methods };
  }),
  ...onNode(call, what, methods, WORKLOADS.slice(1)),
];

const CLEARING = native("headers-clear", CLEAR, "maps");
const LOOKING_UP = native("headers-lookup", LOOKUP, "looking up names");
const ON_LISTS = onEngines("stripRaw", "raw", LIST);
const CAPITALS = WORKLOADS.map((workload) => `${workload}, capitals`);
const ON_CAPITALS = onNode("stripRaw", "raw", LIST, CAPITALS);
const ON_OTHERS = onOthers(["real", "near"]);
const ON_HEADERS = onEngines("strip(Headers)", "headers", HEADERS);
const ON_BLOCKS = onEngines("stripBlock", "block", BLOCK);

/** @type {import("../generate.mjs").Section} */
export const STRIPPING = {
  name: "stripping",
  suite: "headers",
  answer: ({ at }) => {
    const [clear, raw] = [at("headers-clear", "real"), at("headers-node24-raw", "real")];
    return `A request of about 20 fields takes ${clear.ours} in Rust and ${raw.ours} with
      \`stripRaw\` on Node 24; \`trie-hard\` takes ${clear.times("trie-hard")} as long, and a
      hand-written JavaScript table ${raw.times("plain-table")}.`;
  },
  chart: {
    title: "Strip an http::HeaderMap, native",
    lines: ["120 rules, three workloads, criterion."],
    axis: "time of a request, ns",
    log: true,
    comparisons: CLEARING.map((one) => only(one, DRAWN)),
  },
  tables: {
    native: { what: "native, ns a request", comparisons: CLEARING.map((one) => only(one, TABLED)) },
    lookup: { what: "one lookup, ns a name", comparisons: LOOKING_UP },
    stripRaw: { what: "`stripRaw`, ns a request", comparisons: ON_LISTS },
    capitals: { what: "`stripRaw`, names with capitals", comparisons: ON_CAPITALS },
    engines: { what: "`stripRaw`, other engines", comparisons: ON_OTHERS },
    "strip(Headers)": { what: "`strip(Headers)`, ns a request", comparisons: ON_HEADERS },
    stripBlock: { what: "`stripBlock`, ns a request", comparisons: ON_BLOCKS },
  },
  compared: [
    ...[...CLEARING, ...LOOKING_UP, ...ON_LISTS, ...ON_CAPITALS],
    ...onOthers([...WORKLOADS, ...CAPITALS]),
    ...[...ON_HEADERS, ...ON_BLOCKS],
  ],
};

const COUNTS = [10, 120, 1000, 10_000];

const NATIVE = [
  ...[ours(), rival("hashmap-foldhash", "`HashMap`, foldhash")],
  ...[rival("trie-hard"), rival("fst"), rival("regex", "one `regex`")],
];
const NODE = [ours(), ...RIVALS_ON_LISTS];
const NATIVE_GROWTH = byCount(COUNTS, "rules", "headers-growth-lookup", NATIVE, "native, ");
const NODE_GROWTH = byCount(COUNTS, "rules", "headers-node24-growth", NODE, "Node 24, ");

/** @param {string} suite @returns {import("../figures.mjs").Key[]} */
const keysOf = (suite) => COUNTS.map((count) => [suite, `${count} rules`, "hedgerow"]);

/** @type {import("../generate.mjs").Section} */
export const RULES = {
  name: "rules",
  suite: "headers",
  answer: ({ at }) => {
    const [few, many] = [10, 10_000].map((count) => at("headers-growth-lookup", `${count} rules`));
    return `Looking up a name takes ${few?.ours} with 10 rules and ${many?.ours} with 10,000.`;
  },
  chart: {
    title: "Look up a name among more rules, native",
    lines: ["Groups: number of rules. Names of the workload real."],
    axis: "time of a name, ns",
    log: true,
    comparisons: NATIVE_GROWTH.map((one) => ({ ...one, title: `${one.title} rules` })),
  },
  tables: {
    native: { what: "native, ns a name", comparisons: NATIVE_GROWTH },
    "Node 24": { what: "`stripRaw`, Node 24, ns a request", comparisons: NODE_GROWTH },
    image: {
      head: ["compiled set", ...COUNTS.map(grouped)],
      rows: [
        { label: "size, bytes", keys: keysOf("headers-growth-image") },
        { label: "time to compile, µs", keys: keysOf("headers-growth-compile"), divide: 1000 },
      ],
    },
  },
  compared: [...NATIVE_GROWTH, ...NODE_GROWTH],
};
