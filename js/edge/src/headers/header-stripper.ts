import { checkList, checkString, HedgerowError, isOptions, wrongType } from "../error.js";
import { CompiledRules, nominated } from "./compiled-rules.js";

/** Options of a {@link HeaderStripper}. */
export interface HeaderStripperOptions {
  /**
   * `"strip"` strips the fields that a rule matches. `"keep"` makes the rules an allow-list: it strips all
   * other fields. Default: `"strip"`.
   */
  mode?: "strip" | "keep";
  /**
   * `"equivalent"` takes `-`, `_` and `.` for the same character, as CGI, WSGI, Rack, PSGI and PHP do: a rule
   * `x-internal-*` also matches `X_Internal_User`. `"exact"` matches only the characters of the rule. Not for an
   * allow-list, which is always exact: it keeps no spelling that is not listed. Default: `"equivalent"`.
   */
  spelling?: "equivalent" | "exact";
}

/**
 * Strips the header fields whose names match a fixed set of rules, or all others.
 *
 * A rule is a field name (`"x-internal-token"`) or a prefix that ends in `*` (`"cf-int-*"`). Case does not
 * matter, and `-`, `_` and `.` are the same character, except in an allow-list. The constructor compiles the rules once; create one stripper and reuse it for all messages.
 *
 * If a rule matches `connection`, the fields that a message's `Connection` nominates are stripped, too, as
 * RFC 9110 §7.6.1 requires of intermediaries. `Upgrade` and `TE: trailers` are kept. A message that
 * nominates a field meant for all recipients, such as `Content-Length` or `Host`, is rejected.
 *
 * An allow-list, with `mode: "keep"`, also has rules for `connection`, `content-length`, `host` and
 * `transfer-encoding`, and keeps the pseudo-fields of HTTP/2, since a message breaks without them. To strip
 * one, use a second stripper. An allow-list keeps `Connection`, so nominations have no effect on it.
 *
 * @example
 * ```ts
 * import { HeaderStripper, preset } from "hedgerow";
 *
 * const internal = new HeaderStripper(["x-internal-*", "x-debug", ...preset("next")]);
 * const headers = new Headers({ accept: "*\/*", "X-Internal-User": "7" });
 * internal.strip(headers); // 1
 * ```
 */
export class HeaderStripper {
  readonly #rules: CompiledRules;

  /**
   * Compiles `rules`.
   *
   * @throws {HedgerowError} `ERR_HEADER_RULE` if a rule is empty, is `*` alone, has a `*` before its end,
   * has a character that field names must not have (RFC 9110 §5.1), or is longer than 256 characters, or if
   * there are more than 32,768 different rules, including the four of an allow-list; `ERR_ARGUMENT` if
   * `rules` is not a list of strings, or an option is unknown or invalid
   */
  constructor(rules: Iterable<string>, options: HeaderStripperOptions = {}) {
    checkList("rules", rules);
    this.#rules = new CompiledRules(rules, ...choicesOf(options));
    compiled.set(this, this.#rules);
  }

  /** Returns whether a rule matches `name`, ignoring case and with the `spelling` of the options, whatever the mode. */
  matches(name: string): boolean {
    checkString("a field name", name);
    return this.#rules.live().matches(name);
  }

  /**
   * Returns whether a field with this name is stripped: if a rule matches it, or with an allow-list if none
   * does. The fields that a message's `Connection` nominates do not count.
   */
  strips(name: string): boolean {
    checkString("a field name", name);
    return this.#rules.live().strips(name);
  }

  /**
   * Removes every field that the rules strip from `headers`, in place.
   *
   * @returns the number of names removed
   * @throws {TypeError} if the headers are immutable, as those of an incoming request may be; strip a copy
   * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates a field of the message that is
   * meant for all recipients; `ERR_ARGUMENT` if `headers` is not `Headers`, or `Connection` exceeds 16 MiB.
   * The headers are then unchanged; reject the message.
   */
  strip(headers: Headers): number {
    const rules = this.#rules.live();
    // Not `instanceof`, for `Headers` of polyfills; `append` distinguishes them from a `Map`.
    if (typeof headers?.append !== "function") throw wrongType("Headers", headers);
    const stripped: string[] = [];
    for (const name of headers.keys()) if (rules.strips(name)) stripped.push(name);
    // Iterating may have run code that freed the rules.
    rules.live();
    if (rules.stripsConnection && stripped.includes("connection")) {
      for (const [name, isForbidden] of nominated(headers.get("connection")!, rules)) {
        const value = headers.get(name);
        if (value !== null && isStrippable(name, value, isForbidden)) stripped.push(name);
      }
    }
    return remove(headers, stripped);
  }

  /**
   * Returns a copy of Node's flat list of names and values (`message.rawHeaders`) without the fields that
   * the rules strip. The rest keeps its case, order and duplicates.
   *
   * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates a field of the message that is
   * meant for all recipients; reject the message. `ERR_ARGUMENT` if the list has a name without a value, has
   * anything but strings, or `Connection` exceeds 16 MiB
   */
  stripRaw(rawHeaders: readonly string[]): string[] {
    if (!Array.isArray(rawHeaders)) throw wrongType("an array", rawHeaders);
    const kept: string[] = rawHeaders.slice();
    const { length } = kept;
    if (length % 2 !== 0) {
      throw new HedgerowError(
        "ERR_ARGUMENT",
        `rawHeaders: expected names and values in turn, found ${length} strings`,
      );
    }
    const rules = this.#rules.live();
    let end = 0;
    let connection: string | undefined;
    for (let index = 0; index < length; index += 2) {
      const name = kept[index];
      const value = kept[index + 1];
      if (typeof name !== "string" || typeof value !== "string") {
        throw wrongType("strings", typeof name === "string" ? value : name);
      }
      if (!rules.strips(name)) {
        if (end !== index) {
          kept[end] = name;
          kept[end + 1] = value;
        }
        end += 2;
      } else if (rules.stripsConnection && isConnection(name)) {
        connection = connection === undefined ? value : `${connection},${value}`;
      }
    }
    // Faster than setting the length, for the few fields that are stripped.
    while (kept.length > end) kept.pop();
    return connection === undefined ? kept : withoutNominated(kept, nominated(connection, rules));
  }

  /**
   * Releases the memory that `stripBlock` took in WebAssembly. The stripper must not be used afterwards.
   */
  free(): void {
    this.#rules.free();
  }

  /** Calls {@link free}; for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}

const compiled = new WeakMap<HeaderStripper, CompiledRules>();

/** Returns the compiled rules of a stripper, or `undefined` if it is not one of this bundle. */
export function rulesOf(stripper: HeaderStripper): CompiledRules | undefined {
  return compiled.get(stripper);
}

/** Returns a raw list without the nominated fields. */
function withoutNominated(raw: string[], names: Map<string, boolean>): string[] {
  if (names.size === 0) return raw;
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!;
    const value = raw[index + 1]!;
    const lower = lowerCase(name);
    const isForbidden = names.get(lower);
    if (isForbidden === undefined || !isStrippable(lower, value, isForbidden))
      kept.push(name, value);
  }
  return kept;
}

/**
 * Returns whether to strip a nominated field: all but a `TE` that accepts trailers.
 *
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if senders must not nominate it
 */
function isStrippable(name: string, value: string, isForbidden: boolean): boolean {
  if (!isForbidden) return name !== "te" || value.trim().toLowerCase() !== "trailers";
  const message = `Connection nominates ${name}, which is meant for all recipients`;
  throw new HedgerowError("ERR_CONNECTION_OPTION", message);
}

/** Deletes the names, counting duplicates, which are adjacent, once. */
function remove(headers: Headers, names: string[]): number {
  let count = 0;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!;
    if (name === names[index - 1]) continue;
    headers.delete(name);
    count += 1;
  }
  return count;
}

/**
 * Returns whether the rules are an allow-list, and whether they match only their exact spelling.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if there is an unknown option, which may have been meant as one of these
 */
function choicesOf(options: unknown): [keeps: boolean, isExact: boolean] {
  const { mode, spelling, ...others }: { mode?: unknown; spelling?: unknown } = isOptions(options)
    ? options
    : { mode: null };
  const keeps = mode === "keep";
  const isExact = spelling === "exact";
  const isKnown =
    (keeps || mode === undefined || mode === "strip") &&
    (isExact || spelling === undefined || (spelling === "equivalent" && !keeps));
  if (isKnown && Object.keys(others).length === 0) return [keeps, keeps || isExact];
  throw wrongType('{ mode: "keep" } or { spelling: "exact" }', options);
}

/** Returns a name in lower case. Only ASCII letters have a case in HTTP. */
function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isConnection(name: string): boolean {
  return name.length === 10 && lowerCase(name) === "connection";
}
