/** A stable code that tells programs what went wrong. Codes do not change between versions; messages may. */
export type HedgerowErrorCode =
  /** A rule is not a field name or a prefix, or there are too many rules. */
  | "ERR_HEADER_RULE"
  /** A field block does not consist of HTTP/1.1 field lines, or exceeds a limit. */
  | "ERR_FIELD_BLOCK"
  /** `Connection` nominates a field that is meant for all recipients. */
  | "ERR_CONNECTION_OPTION"
  /** A file is not a path filter, or there is not enough memory for it. */
  | "ERR_FILTER_FORMAT"
  /** Path filters cannot be merged: one is of the kind `"fuse"`, their parameters differ, or a limit is exceeded. */
  | "ERR_FILTER_MERGE"
  /** The response to a request for a path filter has a status other than 2xx. */
  | "ERR_FILTER_RESPONSE"
  /** Loading a path filter took longer than the timeout. */
  | "ERR_FILTER_TIMEOUT"
  /** JSON does not describe a set of paths. */
  | "ERR_PATH_SET"
  /** An argument has the wrong type or exceeds a limit, or an option is unknown. */
  | "ERR_ARGUMENT"
  /** An object was used after `free()`, or a `PathFilterBuilder` after `build()`. */
  | "ERR_FREED"
  /** The given module is not the WebAssembly module of this version. */
  | "ERR_MODULE"
  /** A filter or `stripBlock` of `hedgerow/slim` was used before `instantiate()`. */
  | "ERR_NOT_INSTANTIATED"
  /** An option of an adapter or a guard is unknown, missing, or of the wrong type. */
  | "ERR_OPTIONS";

/** The error that this package throws. `code` is for programs, `message` for people. */
export class HedgerowError extends Error {
  /** The name of the class. */
  override readonly name = "HedgerowError";

  /** @internal */
  constructor(
    /** The stable error code. */
    readonly code: HedgerowErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the type of a value as messages name it. Never includes the value, which may be secret. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value;
}

/** Returns the error for an argument of the wrong type. */
export function wrongType(expected: string, value: unknown): HedgerowError {
  return new HedgerowError("ERR_ARGUMENT", `expected ${expected}, found ${typeName(value)}`);
}

/** Throws `ERR_ARGUMENT` unless `value` is a string. */
export function checkString(expected: string, value: unknown): void {
  if (typeof value !== "string") throw wrongType(expected, value);
}

/** Throws `ERR_ARGUMENT` unless `list` is an iterable other than a string. */
export function checkList(of: string, list: unknown): void {
  const { [Symbol.iterator]: iterator } = (list ?? {}) as Partial<Iterable<unknown>>;
  if (typeof iterator !== "function" || typeof list === "string") {
    throw wrongType(`a list of ${of}`, list);
  }
}

/** Throws unless `options` is an object without members other than `known`. The message begins with `prefix`. */
export function checkKnown(
  options: unknown,
  known: readonly string[],
  code: HedgerowErrorCode = "ERR_ARGUMENT",
  prefix = "",
): asserts options is object {
  const fail = (expected: string, found: string) =>
    new HedgerowError(code, `${prefix}expected ${expected}, found ${found}`);
  if (!isOptions(options)) throw fail("options", typeName(options));
  // `for…in` because inherited options take effect, too.
  for (const name in options) {
    if (!known.includes(name)) throw fail(known.join(", "), `an option ${JSON.stringify(name)}`);
  }
}

/** Returns whether a value can be an options object. */
export function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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
