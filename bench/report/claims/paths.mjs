// Claims about path filters.
import { claim } from "./claim.mjs";

const ONE_SITE = "24441 paths";

/** @type {[method: string, label: string][]} */
const LOADED = [
  ["plain JS reader", "the same file, read in plain JavaScript"],
  ["JSON.parse + Set", "`JSON.parse` and a `Set`"],
  ["JSON tree, parsed", "`JSON.parse` of a tree"],
];

const MEASURED = "measured rate / p";

/** @type {import("./claim.mjs").Claim[]} */
export const PATHS = [
  claim(
    "load a filter of 24,441 paths and query it once, Node 24",
    ["paths-node24-load", ONE_SITE, "hedgerow"],
    LOADED,
  ),
  claim(
    "the same with `validate: false`",
    ["paths-node24-load", ONE_SITE, "hedgerow, trusted"],
    LOADED,
  ),
  claim(
    "size of a filter of 24,441 paths",
    ["paths-node24-size", ONE_SITE, "hedgerow"],
    [
      ["json", "a JSON list"],
      ["tree", "a JSON tree"],
    ],
  ),
  claim(
    "query a filter, Node 24",
    ["paths-node24-has", "60 bytes, half of them absent", "hedgerow"],
    [
      ["Set.has", "`Set.has`"],
      ["bloom-filters", "`bloom-filters`"],
    ],
  ),
  claim(
    "query a filter, native",
    ["paths-query", "20k mixed", "hedgerow"],
    [
      ["fastbloom", "`fastbloom`"],
      ["hashset-foldhash", "`HashSet` with foldhash"],
    ],
  ),
  claim(
    "build a filter of 1.6 million paths, per path, native",
    ["paths-build", "1600000", "hedgerow"],
    [
      ["fastbloom", "`fastbloom`"],
      ["bloomfilter", "`bloomfilter`"],
    ],
  ),
  {
    ...claim("false positives over the requested rate, 1e-7, ten paths", [
      "paths-false-positives, promised",
      "p = 1e-7, 10 paths",
      MEASURED,
    ]),
    alternatives: [
      {
        label: "the published size",
        key: ["paths-false-positives, classic", "p = 1e-7, 10 paths", MEASURED],
      },
    ],
  },
];
