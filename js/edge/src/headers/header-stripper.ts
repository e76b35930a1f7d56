import { checkList, checkString, HedgerowError, wrongType } from "../error.js";
import { CompiledRules } from "./compiled-rules.js";
import { Confirmations } from "./confirmations.js";
import { MISS } from "./probe.js";

/**
 * Strips header fields by name, as a fixed set of rules says.
 *
 * A rule is a field name (`"x-internal-token"`) or a prefix of field names that ends in `*`
 * (`"cf-int-*"`), of either case. Rules are compiled once, by the constructor; most names are then
 * decided by reading three numbers of a string and one bit of the compiled set.
 *
 * A set that matches `connection` also strips the fields that a message's `Connection` nominates,
 * as RFC 9110 §7.6.1 asks of every intermediary. It keeps `Upgrade` and `TE: trailers`, and refuses a
 * message that nominates a field for all recipients, such as `Content-Length` or `Host`.
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
  readonly #confirmations = new Confirmations();

  /**
   * Compiles `rules`.
   *
   * @throws {HedgerowError} `ERR_HEADER_RULE` for a rule that is empty, a lone `*`, has a `*`
   * before its end, has a character that RFC 9110 does not allow in a field name, or is longer than
   * 256 characters; and for more than 32,768 rules. `ERR_ARGUMENT` if a rule is not a string, or
   * `rules` is not a list.
   */
  constructor(rules: Iterable<string>) {
    checkList("rules", rules);
    this.#rules = new CompiledRules(rules);
  }

  /** Whether a rule matches `name`, in whatever case. */
  matches(name: string): boolean {
    checkString("a field name", name);
    const rules = this.#rules.live();
    const hash = rules.probe.candidate(name, rules.table.bytes);
    return hash !== MISS && this.#confirmations.get(name, hash, rules);
  }

  /**
   * Removes, in place, every field whose name a rule matches.
   *
   * @returns how many names went.
   * @throws {TypeError} if the headers are immutable, as those of an incoming request may be:
   * strip a copy.
   * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates one of these fields that is
   * meant for all recipients; `ERR_ARGUMENT` for what is not `Headers`, and for more than 16 MiB of
   * `Connection`. The headers are then as they were; refuse the message.
   */
  strip(headers: Headers): number {
    const rules = this.#rules.live();
    // A `Map` has the other methods, too; the class may be another one than this runtime's.
    if (typeof headers?.append !== "function") throw wrongType("Headers", headers);
    const probe = rules.probe;
    const table = rules.table.bytes;
    const doomed: string[] = [];
    for (const name of headers.keys()) {
      const hash = probe.candidate(name, table);
      if (hash !== MISS && this.#confirmations.get(name, hash, rules)) doomed.push(name);
    }
    // Reading the names may have run code that freed the rules: then the misses were none.
    rules.live();
    if (rules.stripsConnection && doomed.includes("connection")) {
      for (const [name, isForbidden] of rules.nominated(headers.get("connection")!)) {
        const value = headers.get(name);
        if (value !== null && goes(name, value, isForbidden)) doomed.push(name);
      }
    }
    return remove(headers, doomed);
  }

  /**
   * Copies Node's flat list of names and values (`message.rawHeaders`) without the fields whose
   * name a rule matches. Case, order and duplicates of the rest are kept.
   *
   * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if `Connection` nominates one of these fields that is
   * meant for all recipients: refuse the message; `ERR_ARGUMENT` if the list has a name without a value,
   * anything but strings, or more than 16 MiB of `Connection`.
   */
  stripRaw(rawHeaders: readonly string[]): string[] {
    if (!Array.isArray(rawHeaders)) throw wrongType("an array", rawHeaders);
    // A copy first: whatever code reading the list may run has then run.
    const kept: string[] = [...rawHeaders];
    const { length } = kept;
    if (length % 2 !== 0) {
      throw new HedgerowError(
        "ERR_ARGUMENT",
        `rawHeaders: expected names and values in turn, found ${length} strings`,
      );
    }
    const rules = this.#rules.live();
    const probe = rules.probe;
    const table = rules.table.bytes;
    let end = 0;
    let connection: string | undefined;
    for (let index = 0; index < length; index += 2) {
      const name = kept[index]!;
      if (typeof name !== "string" || typeof kept[index + 1] !== "string") {
        throw wrongType("strings", typeof name === "string" ? kept[index + 1] : name);
      }
      const hash = probe.candidate(name, table);
      if (hash === MISS || !this.#confirmations.get(name, hash, rules)) {
        if (end !== index) {
          kept[end] = name;
          kept[end + 1] = kept[index + 1]!;
        }
        end += 2;
      } else if (rules.stripsConnection && isConnection(name)) {
        const value = kept[index + 1]!;
        connection = connection === undefined ? value : `${connection},${value}`;
      }
    }
    // Faster than to set the length, for as few as go.
    while (kept.length > end) kept.pop();
    return connection === undefined ? kept : without(kept, rules.nominated(connection));
  }

  /**
   * Strips a block of HTTP/1.1 field lines in place: each line ends in CR LF, with or without the
   * empty line that closes the block. A line that begins with white space goes with the one before
   * it.
   *
   * @returns a view of what is left, at the beginning of `block`; what follows it in `block` is
   * undefined.
   * @throws {HedgerowError} `ERR_FIELD_BLOCK` for a bare CR or LF, a NUL, a line without a colon or
   * with white space before it, a name that is no token, an end without CR LF, more than 16 MiB, a
   * body that is framed twice (`Content-Length` and `Transfer-Encoding`, or two lengths), a `Connection`
   * that nominates a field for all recipients, or more than 1,024 fields that it nominates and no rule
   * matches. The block is then as it was; refuse the message and close the connection.
   */
  stripBlock(block: Uint8Array): Uint8Array {
    if (!(block instanceof Uint8Array)) throw wrongType("a Uint8Array", block);
    return this.#rules.live().stripBlock(block);
  }

  /** Gives the compiled set's memory back. It must not be used afterwards. */
  free(): void {
    this.#rules.free();
  }

  /** The same as {@link free}, for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}

/** A raw list without the nominated fields that go. */
function without(raw: string[], nominated: Map<string, boolean>): string[] {
  if (nominated.size === 0) return raw;
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const [name, value] = [raw[index]!, raw[index + 1]!];
    const lower = lowerCase(name);
    const isForbidden = nominated.get(lower);
    if (isForbidden === undefined || !goes(lower, value, isForbidden)) kept.push(name, value);
  }
  return kept;
}

/**
 * Whether a nominated field goes: all do but a `TE` that accepts trailers.
 *
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` if no sender may nominate it
 */
function goes(name: string, value: string, isForbidden: boolean): boolean {
  if (!isForbidden) return name !== "te" || value.trim().toLowerCase() !== "trailers";
  const message = `Connection nominates ${name}, which is meant for all recipients`;
  throw new HedgerowError("ERR_CONNECTION_OPTION", message);
}

/** Deletes names, of which equal ones are neighbours, and counts them. */
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

/** A name in lower case as HTTP sees it: only the letters of ASCII have one. */
function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isConnection(name: string): boolean {
  return name.length === 10 && lowerCase(name) === "connection";
}
