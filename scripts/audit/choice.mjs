// Chooses licences from SPDX expressions.
import { readFileSync } from "node:fs";

import parse from "spdx-expression-parse";

import { inRoot } from "../lib/paths.mjs";

/** @typedef {import("spdx-expression-parse").Info} Info */

/** Licences that deny.toml allows, most preferred first: MIT asks for a single short text. */
export function allowedLicences() {
  const list = /^allow = \[([^\]]*)\]/m.exec(readFileSync(inRoot("deny.toml"), "utf8"))?.[1] ?? "";
  return new Set(["MIT", ...[...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)]);
}

/**
 * Returns the most preferred licences that satisfy an expression, or `undefined` if no allowed licences do.
 *
 * @param {string} expression in SPDX; `/` is an old way to write `OR` in crates
 * @param {Iterable<string>} allowed names, including those with exceptions ("A WITH B"), most preferred first
 */
export function chosen(expression, allowed) {
  const ranks = [...allowed];
  const worst = (/** @type {string[]} */ names) => Math.max(...names.map((n) => ranks.indexOf(n)));
  /** @param {Info} info @returns {string[] | undefined} */
  const choose = (info) => {
    if ("license" in info) {
      const name = info.exception ? `${info.license} WITH ${info.exception}` : info.license;
      return ranks.includes(name) ? [name] : undefined;
    }
    const [left, right] = [choose(info.left), choose(info.right)];
    if (info.conjunction === "and") return left && right && [...new Set([...left, ...right])];
    return left && right && worst(right) < worst(left) ? right : (left ?? right);
  };
  let info;
  try {
    info = parse(expression.replaceAll("/", " OR "));
  } catch {
    return undefined;
  }
  return choose(info);
}
