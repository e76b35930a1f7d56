/** Validation of options objects, so that a wrong option fails where it is passed. */
import { checkKnown, HedgerowError, typeName } from "./error.js";

/** The type of an option: its description for messages, and the check. */
export type OptionType = readonly [expected: string, is: (value: unknown) => boolean];

export const FUNCTION: OptionType = ["a function", (value) => typeof value === "function"];

export const STRINGS: OptionType = [
  "a list of strings",
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
];

/**
 * Checks that `options` is an object whose members are all listed in `types` and have the right type or
 * are `undefined`.
 *
 * @param subject the function or adapter, as messages name it
 * @throws {HedgerowError} `ERR_OPTIONS`
 */
export function checkOptions(
  subject: string,
  options: unknown,
  types: Record<string, OptionType>,
): void {
  checkKnown(options, Object.keys(types), "ERR_OPTIONS", `${subject}: `);
  for (const [name, [expected, is]] of Object.entries(types)) {
    const value: unknown = options[name as keyof typeof options];
    if (value !== undefined && !is(value)) {
      const message = `${subject}: ${name}: expected ${expected}, found ${typeName(value)}`;
      throw new HedgerowError("ERR_OPTIONS", message);
    }
  }
}
