// The suite `paths`: loading, querying and building filters, their size and their false positives.
import { byCount, only, ours, own, rival } from "../comparison.mjs";
import { grouped } from "../format.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../figures.mjs").Key} Key */
/** @typedef {import("../generate.mjs").Section} Section */

const SITE = "24441 paths";
const COUNTS = [1000, 10_000, 24_441, 100_000];

const LOAD = [
  ours(),
  own("hedgerow, trusted", "hedgerow, `validate: false`"),
  own("hedgerow, classic", "hedgerow, classic sizing"),
  own("hedgerow, classic, trusted", "hedgerow, both options"),
  own("hedgerow, from a file, trusted", "`readPathFilterSync`"),
  rival("plain JS reader"),
  rival("JSON.parse + Set", "`JSON.parse`, `Set`"),
  rival("JSON tree, parsed", "`JSON.parse` of a tree"),
  own("PathSet", "`PathSet.parse`"),
];

/** The methods that are measured for every number of paths. */
const GROWN = ["hedgerow", "hedgerow, trusted", "JSON.parse + Set", "JSON tree, parsed"];

const LOADED = ["Node 20", "Node 24"].map((title) => {
  const suite = `paths-${title.toLowerCase().replace(" ", "")}-load`;
  return { title, place: `24,441 paths, ${title}`, suite, workload: SITE, methods: LOAD };
});

const LOAD_GROWTH = byCount(COUNTS, "paths", "paths-node24-load", LOAD).map((one) =>
  only(one, GROWN),
);

/** @type {Section} */
export const LOADING = {
  name: "loading",
  suite: "paths",
  answer: ({ at }) => {
    const load = at("paths-node24-load", SITE);
    return `Loading a filter of 24,441 paths and querying it once takes ${load.ours} on Node 24;
      \`JSON.parse\` and a \`Set\` take ${load.times("JSON.parse + Set")} as long.`;
  },
  chart: {
    title: "Load 24,441 paths, query one",
    lines: ["Node 24."],
    axis: "time, µs",
    log: true,
    divide: 1000,
    comparisons: LOADED.slice(1),
  },
  tables: {
    "one site": { what: "µs, 24,441 paths", divide: 1000, comparisons: LOADED },
    growth: { what: "µs on Node 24, by number of paths", divide: 1000, comparisons: LOAD_GROWTH },
  },
  compared: [...LOADED, ...LOAD_GROWTH.filter(({ workload }) => workload !== SITE)],
};

const SIZES = byCount(COUNTS, "paths", "paths-node24-size", [
  ...[ours(), own("hedgerow, classic", "hedgerow, classic sizing")],
  own("hedgerow, fuse", 'hedgerow, `kind: "fuse"`'),
  ...[rival("json", "JSON array"), rival("tree", "JSON tree")],
]);

/** @type {Section} */
export const SIZE = {
  name: "size",
  suite: "paths",
  answer: ({ at }) => {
    const size = at("paths-node24-size", SITE);
    return `A filter of 24,441 paths takes ${size.ours}; as a JSON array, they take
      ${size.times("json")} as much.`;
  },
  chart: {
    title: "Size of a filter and of JSON",
    lines: ["Groups: number of paths. p = 1e-7."],
    axis: "size, kB",
    log: true,
    divide: 1000,
    comparisons: SIZES.map((one) => ({ ...one, title: `${one.title} paths` })),
  },
  tables: { growth: { what: "kB, by number of paths", divide: 1000, comparisons: SIZES } },
  compared: SIZES,
};

const HALF_ABSENT = "60 bytes, half of them absent";

const NATIVE_QUERIES = [
  ["20k absent", "20k absent"],
  ["20k present", "20k present"],
  ["20k mixed", "20k mixed"],
  ["1600k mixed", "1.6M mixed"],
].map(([workload = "", title = ""]) => ({
  title,
  place: `native, ${title}`,
  suite: "paths-query",
  workload,
  methods: [
    ...[ours(), own("hedgerow-classic", "hedgerow, classic sizing")],
    own("hedgerow-fuse", "hedgerow, `Kind::Fuse`"),
    rival("fastbloom", "fastbloom, SipHash"),
    rival("fastbloom-foldhash", "fastbloom, foldhash"),
    rival("bloomfilter"),
    rival("hashset-siphash", "`HashSet`, SipHash"),
    rival("hashset-foldhash", "`HashSet`, foldhash"),
  ],
}));

const NODE_QUERIES = [20, 24].map((version) => ({
  title: `Node ${version}`,
  suite: `paths-node${version}-has`,
  workload: HALF_ABSENT,
  methods: [
    ...[ours(), own("hedgerow, fuse", 'hedgerow, `kind: "fuse"`')],
    ...[rival("Set.has", "`Set.has`"), rival("bloom-filters", "`bloom-filters`")],
    rival("plain JS reader", "plain JS reader, xxhashjs"),
  ],
}));

/** @type {Section} */
export const QUERYING = {
  name: "querying",
  suite: "paths",
  answer: ({ at }) => {
    const [has, native] = [at("paths-node24-has", HALF_ABSENT), at("paths-query", "20k mixed")];
    return `A query takes ${has.ours} on Node 24, where \`Set.has\` takes ${has.times("Set.has")} as
      long, and ${native.ours} in Rust, where \`fastbloom\` with its default hash takes
      ${native.times("fastbloom")} as long.`;
  },
  chart: {
    title: "Query a path, native",
    lines: ["Of 20,000 or 1.6 million paths, p = 1e-7, criterion."],
    axis: "time of a path, ns",
    comparisons: NATIVE_QUERIES,
  },
  tables: {
    native: { what: "native, ns a path", comparisons: NATIVE_QUERIES },
    JavaScript: { what: "JavaScript, ns a path", comparisons: NODE_QUERIES },
    parts: {
      head: ["one step, native", "ns"],
      rows: [
        { label: "two hashes of 60 bytes", keys: [["paths-hash", "60 bytes", "hedgerow"]] },
        {
          label: "two hashes, `xxhash-rust`",
          keys: [["paths-hash", "60 bytes", "xxhash-rust, twice"]],
        },
        { label: "parse a filter of 24,441 paths", keys: [["paths-parse", "24k", "hedgerow"]] },
        { label: "parse it, `parse_trusted`", keys: [["paths-parse", "24k", "hedgerow-trusted"]] },
      ],
    },
  },
  compared: [...NATIVE_QUERIES, ...NODE_QUERIES],
};

const BUILT = [10_000, 100_000, 1_600_000, 10_000_000];
const MEASURED_MEMORY = [10_000, 100_000, 1_000_000, 10_000_000];

const BUILDS = BUILT.map((count) => ({
  title: grouped(count),
  place: `${grouped(count)} paths`,
  suite: "paths-build",
  workload: `${count}`,
  methods: [
    ...[ours(), own("hedgerow-counted", "hedgerow, known count")],
    own("hedgerow-duplicates", "hedgerow, half duplicates"),
    own("hedgerow-fuse", "hedgerow, `Kind::Fuse`"),
    ...[rival("fastbloom"), rival("bloomfilter")],
  ],
}));

/** @param {string} suite @param {string} method @param {number[]} counts @returns {Key[]} */
const keysOf = (suite, method, counts) => counts.map((count) => [suite, `${count} paths`, method]);

/** @param {string} figure @returns {Key[]} */
const distributed = (figure) =>
  ["parts", "merge", "whole"].map((method) => [
    "paths-distributed",
    "4 partitions",
    `${method}, ${figure}`,
  ]);

/** @type {Section} */
export const BUILDING = {
  name: "building",
  suite: "paths",
  answer: ({ at }) => {
    const native = at("paths-build", "1600000");
    return `Building a filter of 1.6 million paths takes ${native.ours} a path in Rust, where
      \`fastbloom\` takes ${native.times("fastbloom")} as long, and
      ${at("paths-node24-build", "1600000 paths").ours} on Node 24.`;
  },
  chart: {
    title: "Build a filter of 1.6 million paths, native",
    lines: ["Paths of 60 to 70 bytes, p = 1e-7, criterion."],
    axis: "time of a path, ns",
    comparisons: BUILDS.slice(2, 3),
  },
  tables: {
    native: { what: "native, ns a path, by number of paths", comparisons: BUILDS },
    JavaScript: {
      head: ["JavaScript, ns a path, by number of paths", ...BUILT.slice(0, 3).map(grouped)],
      rows: [20, 24].flatMap((version) =>
        ["hedgerow", "hedgerow, fuse"].map((method) => ({
          label: `Node ${version}${method === "hedgerow" ? "" : ', `kind: "fuse"`'}`,
          keys: keysOf(`paths-node${version}-build`, method, BUILT.slice(0, 3)),
        })),
      ),
    },
    memory: {
      head: ["bytes a path, by number of paths", ...MEASURED_MEMORY.map(grouped)],
      rows: [
        {
          label: "peak memory without the paths",
          keys: keysOf("paths-memory", "peak, bytes a path", MEASURED_MEMORY),
        },
        { label: "file", keys: keysOf("paths-memory", "file, bytes a path", MEASURED_MEMORY) },
      ],
    },
    partitions: {
      head: [
        "10,000,000 paths, DuckDB and Wasmtime in Python",
        "4 parts",
        "merge",
        "instead: one process, Node",
      ],
      rows: [
        { label: "time, s", keys: distributed("seconds") },
        {
          label: "peak memory of the largest process, MB",
          keys: distributed("memory"),
          divide: 1e6,
        },
      ],
    },
  },
  compared: BUILDS,
};

const RATES = ["0.01", "0.0001", "1e-7"];
const FEW = [1, 3, 100];
const MANY = [10, 1000, 10_000, 1_000_000];
const RATE = "measured rate / p";

/** Numbers of paths in fuse filters, whose rate is 2^-24. */
const FUSED = [10, 1000, 24_441];

/** @param {string} name */
const rates = (name) => `paths-false-positives, ${name}`;

/** @param {string} rate @param {number[]} counts @returns {Key[]} */
const ratesAt = (rate, counts) =>
  counts.map((count) => [rates("promised"), `p = ${rate}, ${count} paths`, RATE]);

/** @type {Key[]} */
const fuseRates = FUSED.map((count) => [rates("fuse"), `p = ${2 ** -24}, ${count} paths`, RATE]);

/**
 * `bloom-filters` is too slow to measure at the smallest rate; classic sizing differs from ours only there.
 *
 * @param {string} rate
 * @returns {Comparison[]}
 */
const promised = (rate) =>
  MANY.map((count) => ({
    title: grouped(count),
    place: `p = ${rate}, ${grouped(count)} paths`,
    suite: rates("promised"),
    workload: `p = ${rate}, ${count} paths`,
    methods: [
      ours("hedgerow", RATE),
      { ...rival(RATE, "`fastbloom`"), suite: rates("fastbloom") },
      { ...rival(RATE, "`bloomfilter`"), suite: rates("bloomfilter") },
      rate === "1e-7"
        ? { ...rival(RATE, "classic sizing"), suite: rates("classic") }
        : { ...rival(RATE, "`bloom-filters`"), suite: rates("bloom-filters") },
    ],
  }));

/** @type {Section} */
export const FALSE_POSITIVES = {
  name: "false positives",
  suite: "paths",
  answer: ({ at, range }) => {
    const all = range(RATES.flatMap((rate) => ratesAt(rate, MANY)));
    const few = at(rates("promised"), "p = 1e-7, 10 paths", RATE);
    return `For 10 to a million paths, the measured rate is ${all} the requested one, which is met
      at 1 or below; for ten paths at p = 1e-7, \`bloomfilter\` has
      ${few.times(RATE, rates("bloomfilter"))} as many false positives.`;
  },
  chart: {
    title: "False positives over the requested rate",
    lines: ["p = 1e-7; groups: number of paths. 1 is the requested rate."],
    axis: RATE,
    log: true,
    comparisons: promised("1e-7").map((one) => ({ ...one, title: `${one.title} paths` })),
  },
  tables: {
    "p = 1e-7": { what: "measured / p, p = 1e-7, paths", comparisons: promised("1e-7") },
    "p = 0.0001": { what: "measured / p, p = 0.0001, paths", comparisons: promised("0.0001") },
    "few paths": {
      head: ["hedgerow, measured / p, paths", ...FEW.map(String)],
      rows: RATES.slice(0, 2).map((rate) => ({ label: `p = ${rate}`, keys: ratesAt(rate, FEW) })),
    },
    fuse: {
      head: ["`Kind::Fuse`, measured / 2^-24, paths", ...FUSED.map(grouped)],
      rows: [{ label: "p = 2^-24", keys: fuseRates }],
    },
  },
  compared: RATES.flatMap(promised),
};
