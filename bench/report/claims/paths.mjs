// Claims about path filters.
import { beside } from "./claim.mjs";

const ONE_SITE = "24441 paths";

/** @type {[method: string, says: string][]} */
const JSON_RIVALS = [
  ["JSON.parse + Set", "`JSON.parse` and a `Set`"],
  ["JSON tree, parsed", "parsing a tree"],
];

const MEASURED = "measured rate / p";

/** @type {import("./claim.mjs").Claim[]} */
export const PATHS = [
  beside(
    "load a filter of 24,441 paths, ask once, Node 24",
    ["paths-node24-load", ONE_SITE, "hedgerow"],
    JSON_RIVALS,
  ),
  beside(
    "the same, without looking for damage",
    ["paths-node24-load", ONE_SITE, "hedgerow, trusted"],
    JSON_RIVALS,
  ),
  beside(
    "its size",
    ["paths-node24-size", ONE_SITE, "hedgerow"],
    [
      ["json", "as a JSON list"],
      ["tree", "as a tree"],
    ],
  ),
  beside(
    "ask for a path, Node 24",
    ["paths-node24-has", "60 bytes, half of them absent", "hedgerow"],
    [
      ["Set.has", "`Set.has`"],
      ["bloom-filters", "`bloom-filters`"],
    ],
  ),
  beside(
    "ask for a path, native",
    ["paths-query", "20k mixed", "hedgerow"],
    [
      ["fastbloom", "`fastbloom`"],
      ["hashset-foldhash", "`HashSet` with foldhash"],
    ],
  ),
  beside(
    "build, 1.6 million paths, a path, native",
    ["paths-build", "1600000", "hedgerow"],
    [
      ["fastbloom", "`fastbloom`"],
      ["bloomfilter", "`bloomfilter`"],
    ],
  ),
  {
    ...beside("false positives over those asked for, 1e-7, ten paths", [
      "paths-false-positives, promised",
      "p = 1e-7, 10 paths",
      MEASURED,
    ]),
    rivals: [
      {
        says: "the published size",
        key: ["paths-false-positives, classic", "p = 1e-7, 10 paths", MEASURED],
      },
    ],
  },
];
