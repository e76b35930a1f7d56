// How long a cache hit takes, by the size of the image.
import { only, ours, own, rival } from "../comparison.mjs";

const HITS = [
  ours("hedgerow, by digest"),
  own("without digest", "hedgerow, without digest"),
  own("first of a process", "first hit of a process"),
  own("first of a process, and opening", "first hit, opening included"),
  own("first of a process, without digest", "first hit, without digest"),
  rival("open of a file, then close", "`open` and close the file"),
  rival("HEAD of the object", "`HEAD` of the object"),
  rival("SHA-256 of the file", "SHA-256 of the file"),
];

const DRAWN = [
  ...["hedgerow", "without digest", "first of a process"],
  ...["open of a file, then close", "HEAD of the object", "SHA-256 of the file"],
];

const SIZES = ["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** The sizes in tables. */
const SHOWN = ["64 MiB", "1 GiB", "8 GiB"];

const SUITE = "cache-node20, hits";

const HIT = SIZES.map((size) => ({
  ...{ title: size, place: `a hit, ${size}`, suite: SUITE, workload: size, methods: HITS },
}));

/** @returns {import("../generate.mjs").Section} */
export function hits() {
  return {
    name: "hits",
    suite: "cache",
    answer: ({ range, times }) => {
      const all = SIZES.map(
        (size) => /** @type {[string, string, string]} */ ([SUITE, size, "hedgerow"]),
      );
      const large = /** @type {const} */ ([SUITE, "8 GiB"]);
      return [
        `A hit takes ${range(all)}, whatever the size of the image; opening and closing the`,
        `file takes ${times([...large, "hedgerow"], [...large, "open of a file, then close"])}`,
        "as long.",
      ].join(" ");
    },
    tables: {
      sizes: { what: "ms", comparisons: HIT.filter(({ title }) => SHOWN.includes(title)) },
    },
    plainTables: {
      "number of images": {
        head: ["ms, images in the cache", "10", "1,000", "10,000"],
        rows: ["opening, in a fresh process", "opening, again and again", "a hit"].map((what) => ({
          label: what.replace("again and again", "repeated"),
          keys: ["10", "1000", "10000"].map((count) => [
            "cache-node20, number of images",
            what,
            count,
          ]),
        })),
      },
    },
    charts: {
      "hits-sizes": {
        title: "A cache hit, by size of the image",
        lines: ["Node 20, ext4."],
        axis: "time, ms",
        log: true,
        comparisons: HIT.filter(({ title }) => SHOWN.includes(title)).map((one) =>
          only(one, DRAWN),
        ),
      },
    },
    compared: HIT,
  };
}
