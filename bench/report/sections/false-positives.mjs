// Whether filters keep the requested rate of false positives.
import { ours, rival } from "../comparison.mjs";

const MEASURED = "measured rate / p";
const SUITE = "paths-false-positives, promised";

/** @param {string} name @param {string} [label] */
const rivalOf = (name, label = `\`${name}\``) => ({
  ...rival(MEASURED, label),
  suite: `paths-false-positives, ${name}`,
});

const ALWAYS = [ours("hedgerow", MEASURED), rivalOf("fastbloom"), rivalOf("bloomfilter")];

const RATES = ["0.01", "0.0001", "1e-7"];

/** `bloom-filters` is too slow to measure at the smallest rate; classic sizing differs from ours only there. @param {string} rate */
const methodsAt = (rate) => [
  ...ALWAYS,
  rate === "1e-7" ? rivalOf("classic", "classic sizing") : rivalOf("bloom-filters"),
];

/** @param {string} rate @param {number[]} counts */
const promised = (rate, counts) =>
  counts.map((count) => ({
    title: count.toLocaleString("en"),
    place: `p = ${rate}, ${count.toLocaleString("en")} paths`,
    suite: SUITE,
    workload: `p = ${rate}, ${count} paths`,
    methods: methodsAt(rate),
  }));

const SMALL = [1, 3, 100];
const COUNTS = [10, 1000, 10_000, 1_000_000];

/** @returns {import("../generate.mjs").Section} */
export function falsePositives() {
  const tables = RATES.slice(1).map((rate) => [
    `p = ${rate}`,
    { what: `measured / p, p = ${rate}, paths`, comparisons: promised(rate, COUNTS) },
  ]);
  return {
    name: "false positives",
    suite: "paths",
    answer: ({ range, times }) => {
      const all = RATES.flatMap((rate) =>
        COUNTS.map(
          (count) =>
            /** @type {[string, string, string]} */ ([
              SUITE,
              `p = ${rate}, ${count} paths`,
              MEASURED,
            ]),
        ),
      );
      const few = "p = 1e-7, 10 paths";
      return [
        `The measured rate is ${range(all)} the requested one for 10 to a million paths, where`,
        "up to 1 keeps the promise; for ten paths at p = 1e-7, `bloomfilter` has",
        `${times([SUITE, few, MEASURED], ["paths-false-positives, bloomfilter", few, MEASURED])}`,
        "as many false positives.",
      ].join(" ");
    },
    tables: Object.fromEntries(tables),
    plainTables: {
      "few paths": {
        head: ["hedgerow, measured / p, paths", ...SMALL.map(String)],
        rows: RATES.slice(0, 2).map((rate) => ({
          label: `p = ${rate}`,
          keys: SMALL.map((count) => [SUITE, `p = ${rate}, ${count} paths`, MEASURED]),
        })),
      },
    },
    charts: {
      "false-positives-1e-7": {
        title: "False positives over the requested rate",
        lines: ["p = 1e-7; groups: number of paths. 1 is what was requested."],
        axis: "measured rate / p",
        log: true,
        comparisons: promised("1e-7", COUNTS).map((one) => ({
          ...one,
          title: `${one.title} paths`,
        })),
      },
    },
    compared: RATES.flatMap((rate) => promised(rate, COUNTS)),
  };
}
