// Hedgerow: compiles rules, parses a filter and queries each once.
import { HeaderStripper, PathFilter } from "hedgerow";

/** @param {import("../subjects.mjs").Input} input */
export function use({ rules, header, filter, path }) {
  return new HeaderStripper(rules).matches(header) && PathFilter.parse(filter).has(path);
}
