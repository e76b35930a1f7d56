/** Checks of options objects, so that a wrong one fails where it is given and not where it is used. */
import { found, HedgerowError, isOptions } from "./error.js";

/** What an option has to be: a text for the message, and the check. */
export type Kind = readonly [expected: string, is: (value: unknown) => boolean];

export const FUNCTION: Kind = ["a function", (value) => typeof value === "function"];

export const STRINGS: Kind = [
  "a list of strings",
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
];

/**
 * Checks that `options` is an object, that it has no option but those of `kinds`, and that each is
 * what it should be, or `undefined`.
 *
 * @param of what the options are for, as messages call it
 * @throws {HedgerowError} `ERR_OPTIONS`
 */
export function checkOptions(of: string, options: unknown, kinds: Record<string, Kind>): void {
  if (!isOptions(options)) {
    throw new HedgerowError("ERR_OPTIONS", `${of}: expected options, found ${found(options)}`);
  }
  // Also what an object inherits, since it is used.
  for (const name in options) {
    const value: unknown = options[name as keyof typeof options];
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds).join(", ");
      const message = `${of}: expected ${known}, found an option ${JSON.stringify(name)}`;
      throw new HedgerowError("ERR_OPTIONS", message);
    }
    const [expected, is] = kind;
    if (value !== undefined && !is(value)) {
      const message = `${of}: ${name}: expected ${expected}, found ${found(value)}`;
      throw new HedgerowError("ERR_OPTIONS", message);
    }
  }
}
