// Claims within sentences of the README, and their text.
import { beside } from "./claim.mjs";

/** @typedef {import("./claim.mjs").Claim} Claim */

/**
 * Claims that one text states, and the text of their medians.
 *
 * @typedef {{ claims: Claim[], say: (medians: number[]) => string }} Sentence
 */

const SIZES = ["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** @param {string} method @param {string} says */
const sizeOf = (method, says) => beside(says, ["paths-node24-size", "24441 paths", method]);

/** By mark. @type {Record<string, Sentence>} */
export const IN_TEXT = {
  "figure: space": {
    claims: [sizeOf("hedgerow", "a filter’s size"), sizeOf("json", "a JSON list’s size")],
    say: ([filter = Number.NaN, list = Number.NaN]) => `${((100 * filter) / list).toFixed(0)} %`,
  },
  "figure: hit": {
    claims: SIZES.map((size) => {
      return beside(`a hit, an image of ${size}`, ["cache-node20, hits", size, "hedgerow"]);
    }),
    say: (medians) => `${Math.min(...medians).toFixed(2)} to ${Math.max(...medians).toFixed(2)} ms`,
  },
  "figure: copy": {
    claims: [beside("a copy of 4 GiB, XFS", ["cache-node20, copies on XFS", "4 GiB", "hedgerow"])],
    say: ([median = Number.NaN]) => `${median.toFixed(1)} ms`,
  },
};
