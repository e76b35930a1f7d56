/** Validation of options objects, so that a wrong option fails where it is passed. */
import { HedgerowError, isOptions, typeName } from "./error.js";

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
  if (!isOptions(options)) {
    const message = `${subject}: expected options, found ${typeName(options)}`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }
  // `for…in` because inherited options take effect, too.
  for (const name in options) {
    const value: unknown = options[name as keyof typeof options];
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) {
      const known = Object.keys(types).join(", ");
      const message = `${subject}: expected ${known}, found an option ${JSON.stringify(name)}`;
      throw new HedgerowError("ERR_OPTIONS", message);
    }
    const [expected, is] = type;
    if (value !== undefined && !is(value)) {
      const message = `${subject}: ${name}: expected ${expected}, found ${typeName(value)}`;
      throw new HedgerowError("ERR_OPTIONS", message);
    }
  }
}
