// The figures in the README’s text: from records, and from the sizes of bundles that tests check.
import { readFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { IN_TEXT } from "./claims/in-text.mjs";

/** @param {import("./figures.mjs").Figures} figures @returns {[mark: string, text: string][]} */
export function inText({ find }) {
  const recorded = Object.entries(IN_TEXT).map(([mark, { claims, say }]) => {
    const medians = claims.flatMap(({ key }) => find(...key)?.median ?? []);
    const text = medians.length < claims.length ? "(not in this record)" : say(medians);
    return /** @type {[string, string]} */ ([mark, text]);
  });
  return [...recorded, ["figure: worker", worker()]];
}

/** Returns the size of a Worker with both jobs, WebAssembly included. */
function worker() {
  const sizes = JSON.parse(readFileSync(inRoot("tests", "packaging", "sizes.json"), "utf8"));
  const { raw, gzip } = sizes["worker of Wrangler, headers and paths"];
  return `${(raw / 1000).toFixed(1)} kB, ${(gzip / 1000).toFixed(1)} kB compressed`;
}
