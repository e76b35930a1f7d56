// How long a hit of the cache of images takes, by the size of the image, and copies of it.
import { ours, own, rival } from "../comparison.mjs";

const SIZES = /** @type {const} */ ([
  [64, "64 MiB"],
  [256, "256 MiB"],
  [1024, "1 GiB"],
  [4096, "4 GiB"],
  [8192, "8 GiB"],
]);

/** Of them, those that a table has room for. */
const SHOWN = [64, 1024, 4096, 8192];

const HITS = [
  ours("hedgerow, by digest"),
  own("without digest", "hedgerow, without digest"),
  own("first of a process", "first of a process"),
  own("first of a process, and opening", "the same, and opening"),
  own("first of a process, without digest", "first of a process, without digest"),
  rival("open of a file, then close", "`open` of a file, then close"),
  rival("HEAD of the object", "`HEAD` of the object"),
  rival("SHA-256 of the file", "SHA-256 of the file"),
];

const DRAWN = [
  "hedgerow",
  "without digest",
  "first of a process",
  "open of a file, then close",
  "HEAD of the object",
  "SHA-256 of the file",
];

const COPIES = [
  ours(),
  rival("cp --sparse=always", "`cp --sparse=always`"),
  rival("cp --reflink=auto", "`cp --reflink=auto`"),
];

const SHARED = [ours(), rival("cp --reflink=always", "`cp --reflink=always`")];

/** @param {string} what @param {string} place @param {import("../comparison.mjs").Method[]} methods */
const bySize = (what, place, methods) =>
  SIZES.map(([at, title]) => {
    const suite = `cache-node20, ${what}`;
    return { at, title, place: `${place}, ${title}`, suite, workload: title, methods };
  });

const hit = bySize("hits", "a hit", HITS);
const copied = bySize("copies", "a copy on ext4", COPIES);
const shared = bySize("copies on XFS", "a copy on XFS", SHARED);

/** @param {(import("../comparison.mjs").Comparison & { at: number })[]} comparisons */
const shown = (comparisons) => comparisons.filter(({ at }) => SHOWN.includes(at));

const ACROSS = "size of the image (logarithmic)";

/** @returns {import("../made.mjs").Section} */
export function hits() {
  return {
    name: "hits",
    suite: "cache",
    tables: { sizes: { what: "ms", comparisons: shown(hit) } },
    lines: {
      "hits-sizes": {
        title: "A hit in the cache, by size of the image",
        lines: ["Node 20, ext4."],
        axes: [ACROSS, "time, ms"],
        points: hit.map((one) => ({
          ...one,
          methods: HITS.filter(({ method }) => DRAWN.includes(method)),
        })),
      },
    },
    compared: hit,
  };
}

/** @returns {import("../made.mjs").Section} */
export function copies() {
  return {
    name: "copies",
    suite: "cache",
    tables: {
      ext4: { what: "ms", comparisons: shown(copied) },
      XFS: { what: "ms", comparisons: shown(shared) },
    },
    given: {
      restores: {
        head: ["", "ms", "MB sent"],
        rows: ["without a cache", "with a cache, a miss", "with a cache, a hit"].map((method) => ({
          says: method,
          keys: ["restores", "bytes sent"].map((what) => [
            `cache-node20, ${what}`,
            "1 GiB, 90 MB/s, 30 ms",
            method,
          ]),
        })),
      },
      "number of images": {
        head: ["images", "10", "1,000", "10,000"],
        rows: ["opening, in a fresh process", "opening, again and again", "a hit"].map((what) => ({
          says: `${what}, ms`,
          keys: ["10", "1000", "10000"].map((count) => [
            "cache-node20, number of images",
            what,
            count,
          ]),
        })),
      },
    },
    lines: {
      "copies-ext4": {
        title: "Copy an image out of the cache, ext4",
        lines: ["What is copied are the files’ bytes."],
        axes: [ACROSS, "time, ms"],
        points: copied,
      },
      "copies-XFS": {
        title: "Copy an image out of the cache, XFS",
        lines: ["Blocks are shared, and nothing is copied."],
        axes: [ACROSS, "time, ms"],
        log: false,
        points: shared,
      },
    },
    compared: [...copied, ...shared],
  };
}
