/** The `Connection` field (RFC 9110 §7.6.1), as `src/connection.rs` of the crate `hedgerow-headers` reads it. */
import { END_TO_END } from "../../wasm/field-names.js";
import { HedgerowError } from "../error.js";
import type { CompiledRules } from "./compiled-rules.js";

/** Longest `Connection` value, in characters: far beyond what HTTP servers accept. */
const MAX_VALUE_LENGTH = 2 ** 24;
/** A token between ASCII white space. */
const OPTION = /^[\t\n\f\r ]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t\n\f\r ]*$/;

/**
 * Returns the fields that a `Connection` value nominates and no rule matches: the name in lower case, and
 * whether a message that has the field must be rejected because senders must not nominate it.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if the value is longer than 16 MiB
 */
export function nominated(value: string, rules: CompiledRules): Map<string, boolean> {
  if (value.length > MAX_VALUE_LENGTH) {
    const message = `Connection: expected at most 16 MiB, found ${value.length} characters`;
    throw new HedgerowError("ERR_ARGUMENT", message);
  }
  const names = new Map<string, boolean>();
  // One option at a time: the list may have millions.
  for (let start = 0; start < value.length; ) {
    const comma = value.indexOf(",", start);
    const end = comma < 0 ? value.length : comma;
    const name = OPTION.exec(value.slice(start, end))?.[1]?.toLowerCase();
    start = end + 1;
    if (name === undefined || name === "upgrade" || rules.matches(name)) continue;
    names.set(name, isEndToEnd(name));
  }
  return names;
}

/** Returns whether a field is meant for all recipients, in any equivalent spelling. An entry that ends in a hyphen is a prefix. */
function isEndToEnd(name: string): boolean {
  const folded = name.replace(/[._]/g, "-");
  return END_TO_END.some((other) =>
    other.endsWith("-") ? folded.startsWith(other) : folded === other,
  );
}
