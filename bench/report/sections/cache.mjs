// The suite `cache`: hits, copies out of the cache, and hit rates.
import { only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Method} Method */
/** @typedef {import("../generate.mjs").Section} Section */

const SIZES = ["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** @param {string} suite @param {string} place @param {Method[]} methods */
const bySize = (suite, place, methods) =>
  SIZES.map((size) => ({
    ...{ title: size, place: `${place}, ${size}`, suite, workload: size, methods },
  }));

const HIT = "cache-node20, hits";

const HITS = bySize(HIT, "a hit", [
  ours("hedgerow, by digest"),
  own("without digest", "hedgerow, without digest"),
  own("first of a process", "first hit of a process"),
  own("first of a process, and opening", "first hit, opening included"),
  own("first of a process, without digest", "first hit, without digest"),
  rival("open of a file, then close", "`open` and close the file"),
  rival("HEAD of the object", "`HEAD` of the object"),
  rival("SHA-256 of the file", "SHA-256 of the file"),
]);
const HITS_SHOWN = HITS.filter(({ title }) => ["64 MiB", "1 GiB", "8 GiB"].includes(title));

/** @type {Section} */
export const HIT_TIMES = {
  name: "hits",
  suite: "cache",
  answer: ({ at, range }) => {
    const times = at(HIT, "8 GiB").times("open of a file, then close");
    return `A hit takes ${range(SIZES.map((size) => [HIT, size, "hedgerow"]))}, whatever the size of
      the image; at 8 GiB, opening and closing the file takes ${times} as long.`;
  },
  chart: {
    title: "A cache hit, by size of the image",
    lines: ["Node 20, ext4."],
    axis: "time, ms",
    log: true,
    comparisons: HITS_SHOWN.map((one) =>
      only(one, [
        ...["hedgerow", "without digest", "first of a process"],
        ...["open of a file, then close", "HEAD of the object", "SHA-256 of the file"],
      ]),
    ),
  },
  tables: {
    sizes: { what: "ms", comparisons: HITS_SHOWN },
    "number of images": {
      head: ["ms, images in the cache", "10", "1,000", "10,000"],
      rows: ["opening, in a fresh process", "opening, again and again", "a hit"].map((what) => ({
        label: what.replace("again and again", "repeated"),
        keys: [10, 1000, 10_000].map((n) => ["cache-node20, number of images", what, `${n}`]),
      })),
    },
  },
  compared: HITS,
};

const ON_EXT4 = bySize("cache-node20, copies", "a copy on ext4", [
  ...[ours(), rival("cp --sparse=always", "`cp --sparse=always`")],
  rival("cp --reflink=auto", "`cp --reflink=auto`"),
]);
const ON_XFS = bySize("cache-node20, copies on XFS", "a copy on XFS", [
  ...[ours(), rival("cp --reflink=always", "`cp --reflink=always`")],
]);

/** @param {typeof ON_EXT4} comparisons */
const shown = (comparisons) => comparisons.filter(({ title }) => title !== "256 MiB");

/** @type {Section} */
export const COPIES = {
  name: "copies",
  suite: "cache",
  answer: ({ at }) => {
    const ext4 = at("cache-node20, copies", "4 GiB");
    return `Copying an image of 4 GiB takes ${at("cache-node20, copies on XFS", "4 GiB").ours} on
      XFS, which shares the blocks, and ${ext4.ours} on ext4, where \`cp --sparse=always\` takes
      ${ext4.times("cp --sparse=always")} as long.`;
  },
  chart: {
    title: "Copy an image out of the cache",
    lines: ["ext4 copies the bytes; XFS shares the blocks."],
    axis: "time, ms",
    log: true,
    comparisons: [
      ...shown(ON_EXT4).map((one) => ({ ...one, title: `ext4, ${one.title}` })),
      ...ON_XFS.slice(-1).map((one) => ({ ...one, title: `XFS, ${one.title}` })),
    ],
  },
  tables: {
    ext4: { what: "ext4, ms", comparisons: shown(ON_EXT4) },
    XFS: { what: "XFS, ms", comparisons: shown(ON_XFS) },
    restores: {
      head: ["1 GiB at 90 MB/s, restored to ext4", "ms", "MB sent"],
      rows: ["without a cache", "with a cache, a miss", "with a cache, a hit"].map((method) => ({
        label: method,
        keys: [
          ["cache-node20, restores", "1 GiB, 90 MB/s, 30 ms", method],
          ["cache-node20, bytes sent", "1 GiB, 90 MB/s, 30 ms", method],
        ],
      })),
    },
  },
  compared: [...ON_EXT4, ...ON_XFS],
};

const HIT_RATE = "cache-node20, hit rate";
const SHARES = [5, 10, 25, 50];
const TRACES = [
  ...["Zipf, exponent 0.8", "Zipf, exponent 1", "Zipf, exponent 1.2"],
  "8 base images, 97 % of requests",
];

/** @param {string} trace @param {number} share */
const hitRate = (trace, share) => ({
  title: `${share} %`,
  place: `${trace}, ${share} % of the bytes`,
  suite: HIT_RATE,
  workload: `${trace}, ${share} % of the bytes`,
  methods: [
    ...[
      ours(),
      rival("lru-cache, by bytes", "`lru-cache`, by bytes"),
      rival("first in, first out"),
    ],
    rival("lru-cache, as many as fit on average", "`lru-cache`, mean count"),
    rival("lru-cache, as many as fit at worst", "`lru-cache`, safe count"),
  ],
  better: /** @type {const} */ ("more"),
});

const BY_SHARE = SHARES.map((share) => hitRate("Zipf, exponent 1", share));

/** @type {Section} */
export const HIT_RATES = {
  name: "hit rates",
  suite: "cache",
  answer: ({ at }) => {
    const quarter = at(HIT_RATE, "Zipf, exponent 1, 25 % of the bytes");
    return `Of requests that follow Zipf’s law, ${quarter.ours} are hits in a cache that holds a
      quarter of the bytes; \`lru-cache\` by bytes has
      ${quarter.times("lru-cache, by bytes")} as many.`;
  },
  chart: {
    title: "Hits, by size of the cache",
    lines: ["Zipf’s law, exponent 1. Groups: share of all bytes.", "More is better."],
    axis: "requests that are hits, %",
    comparisons: BY_SHARE.map((one) => ({ ...one, title: `a cache of ${one.title}` })),
  },
  tables: {
    "by size": { what: "% hits, exponent 1, by size of the cache", comparisons: BY_SHARE },
    "by trace": {
      what: "% hits, cache of 25 %",
      comparisons: TRACES.map((trace) => ({
        ...hitRate(trace, 25),
        title: trace.replace(", 97 % of requests", ""),
      })),
    },
    limits: {
      head: ["mean count: peak bytes / limit", ...SHARES.map((share) => `${share} %`)],
      rows: TRACES.map((trace) => ({
        label: trace,
        keys: SHARES.map((share) => [
          "cache-node20, most bytes over the limit",
          `${trace}, ${share} % of the bytes`,
          "lru-cache, as many as fit on average",
        ]),
      })),
    },
  },
  compared: TRACES.flatMap((trace) => SHARES.map((share) => hitRate(trace, share))),
};
