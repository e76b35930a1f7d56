/** What went wrong, for programs. These do not change between versions; messages may. */
export type HedgerowErrorCode =
  /** A rule that is no field name and no prefix, or one too many. */
  | "ERR_HEADER_RULE"
  /** A field block that is not made of HTTP/1.1 field lines, or beyond a limit. */
  | "ERR_FIELD_BLOCK"
  /** A `Connection` field that nominates a field for all recipients. */
  | "ERR_CONNECTION_OPTION"
  /** A file that is no path filter. */
  | "ERR_FILTER_FORMAT"
  /** An answer that holds no path filter, since its status says so. */
  | "ERR_FILTER_RESPONSE"
  /** A path filter that takes too long to load. */
  | "ERR_FILTER_TIMEOUT"
  /** JSON that is no set of paths. */
  | "ERR_PATH_SET"
  /** An argument of the wrong type, or beyond a limit. */
  | "ERR_ARGUMENT"
  /** A use after `free()`. */
  | "ERR_FREED"
  /** Something that is not the WebAssembly module of this version. */
  | "ERR_MODULE"
  /** A use of `hedgerow/slim` before its `instantiate()`. */
  | "ERR_NOT_INSTANTIATED"
  /** An option of an adapter or a guard that is unknown, missing, or of the wrong type. */
  | "ERR_OPTIONS";

/**
 * What this package throws of its own. The message says what was expected, what was found, and
 * where.
 */
export class HedgerowError extends Error {
  /** The name of the class. */
  override readonly name = "HedgerowError";

  /** @internal */
  constructor(
    /** What went wrong. */
    readonly code: HedgerowErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a value is, in a few words, without what it holds. */
export function found(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value;
}

/** Says that an argument is of another type than was expected. */
export function wrongType(expected: string, value: unknown): HedgerowError {
  return new HedgerowError("ERR_ARGUMENT", `expected ${expected}, found ${found(value)}`);
}

/** Refuses what is no string. */
export function checkString(expected: string, value: unknown): void {
  if (typeof value !== "string") throw wrongType(expected, value);
}

/** Refuses what is no list; one string is none. */
export function checkList(of: string, list: unknown): void {
  const { [Symbol.iterator]: iterator } = (list ?? {}) as Partial<Iterable<unknown>>;
  if (typeof iterator !== "function" || typeof list === "string") {
    throw wrongType(`a list of ${of}`, list);
  }
}

/** Whether a value can be options. */
export function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
