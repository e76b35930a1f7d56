// Claims about the image cache.
import { claim } from "./claim.mjs";

const SIZES = ["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** @param {string} size */
const hit = (size) =>
  claim(
    `a hit, an image of ${size}`,
    ["cache-node20, hits", size, "hedgerow"],
    [
      ["open of a file, then close", "`open` and `close` of a file"],
      ["SHA-256 of the file", "SHA-256 of the file"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const CACHE = [
  ...SIZES.map(hit),
  claim(
    "a copy of 4 GiB, XFS",
    ["cache-node20, copies on XFS", "4 GiB", "hedgerow"],
    [["cp --reflink=always", "`cp --reflink=always`"]],
  ),
  claim(
    "a copy of 1 GiB, ext4",
    ["cache-node20, copies", "1 GiB", "hedgerow"],
    [["cp --sparse=always", "`cp --sparse=always`"]],
  ),
  claim(
    "a copy of 4 GiB, ext4",
    ["cache-node20, copies", "4 GiB", "hedgerow"],
    [
      ["cp --sparse=always", "`cp --sparse=always`"],
      ["cp --reflink=auto", "`cp --reflink=auto`"],
    ],
  ),
  claim(
    "hits, a quarter of the bytes, Zipf’s law",
    ["cache-node20, hit rate", "Zipf, exponent 1, 25 % of the bytes", "hedgerow"],
    [
      ["lru-cache, by bytes", "`lru-cache`, by bytes"],
      ["lru-cache, as many as fit on average", "`lru-cache`, by count"],
      ["first in, first out", "first in, first out"],
    ],
  ),
];
