// Whether filters keep the rate of false positives that was asked for.
import { ours, rival } from "../comparison.mjs";

const MEASURED = "measured rate / p";

/** @param {string} name @param {string} [says] */
const rivalOf = (name, says = `\`${name}\``) => ({
  ...rival(MEASURED, says),
  suite: `paths-false-positives, ${name}`,
});

const ALWAYS = [ours("hedgerow", MEASURED), rivalOf("fastbloom"), rivalOf("bloomfilter")];

const RATES = ["0.01", "0.0001", "1e-7"];

/** At the smallest rate, one would take too long; another one is of interest there alone. @param {string} rate */
const methodsAt = (rate) => [
  ...ALWAYS,
  rate === "1e-7" ? rivalOf("classic", "the published size") : rivalOf("bloom-filters"),
];

/** @param {string} rate @param {number[]} counts */
const promised = (rate, counts) =>
  counts.map((at) => ({
    at,
    title: at.toLocaleString("en"),
    place: `p = ${rate}, ${at.toLocaleString("en")} paths`,
    suite: "paths-false-positives, promised",
    workload: `p = ${rate}, ${at} paths`,
    methods: methodsAt(rate),
  }));

const SMALL = [1, 3, 100];
const COUNTS = [10, 1000, 10_000, 1_000_000];

/** @param {string} rate */
const chart = (rate) => ({
  title: `False positives over those asked for, p = ${rate}`,
  lines: ["1 is what was asked for, below it fewer; 0 is not drawn."],
  axes: /** @type {[string, string]} */ (["paths (logarithmic)", "measured rate / p"]),
  points: promised(rate, COUNTS),
});

/** @returns {import("../made.mjs").Section} */
export function falsePositives() {
  const tables = RATES.map((rate) => [
    `p = ${rate}`,
    { what: "measured / p, paths", comparisons: promised(rate, COUNTS) },
  ]);
  return {
    name: "false positives",
    suite: "paths",
    tables: Object.fromEntries(tables),
    given: {
      "few paths": {
        head: ["measured / p, paths", ...SMALL.map(String)],
        rows: RATES.slice(0, 2).map((rate) => ({
          says: `p = ${rate}`,
          keys: SMALL.map((count) => [
            "paths-false-positives, promised",
            `p = ${rate}, ${count} paths`,
            MEASURED,
          ]),
        })),
      },
    },
    lines: {
      "false-positives-1e-4": chart("0.0001"),
      "false-positives-1e-7": chart("1e-7"),
    },
    compared: RATES.flatMap((rate) => promised(rate, COUNTS)),
  };
}
