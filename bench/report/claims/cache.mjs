// Claims about the image cache.
import { beside } from "./claim.mjs";

/** @param {string} size */
const hit = (size) =>
  beside(
    `a hit, an image of ${size}`,
    ["cache-node20, hits", size, "hedgerow"],
    [
      ["open of a file, then close", "`open` of a file, then `close`"],
      ["SHA-256 of the file", "SHA-256 of the file"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const CACHE = [
  hit("64 MiB"),
  hit("8 GiB"),
  beside(
    "a copy of 4 GiB, XFS",
    ["cache-node20, copies on XFS", "4 GiB", "hedgerow"],
    [["cp --reflink=always", "`cp --reflink=always`"]],
  ),
  beside(
    "a copy of 1 GiB, ext4",
    ["cache-node20, copies", "1 GiB", "hedgerow"],
    [["cp --sparse=always", "`cp --sparse=always`"]],
  ),
  beside(
    "a copy of 4 GiB, ext4",
    ["cache-node20, copies", "4 GiB", "hedgerow"],
    [["cp --sparse=always", "`cp --sparse=always`"]],
  ),
  beside(
    "hits, a quarter of the bytes, Zipf’s law",
    ["cache-node20, hit rate", "Zipf, exponent 1, 25 % of the bytes", "hedgerow"],
    [
      ["lru-cache, by bytes", "`lru-cache`, by bytes"],
      ["lru-cache, as many as fit on average", "the same, by count"],
      ["first in, first out", "first in, first out"],
    ],
  ),
];
