import { END_TO_END } from "../../wasm/field-names.js";
import { HedgerowError } from "../error.js";
import { charactersAt, FOLDED, folded, placesFor, USUAL } from "./characters.js";
import { parseRules, type Rule } from "./parse-rules.js";

/** Slots for each rule, up to the largest table: a name that no rule matches is mostly decided by an empty slot. */
const SLOTS_PER_RULE = 16;
/** The shift that selects a slot of the largest table, of 512 KiB. */
const MIN_SHIFT = 14;
/** 2^32 divided by the golden ratio: Knuth's multiplier for multiplicative hashing. */
const MULTIPLIER = 0x9e3779b1;

/** Longest `Connection` value, in characters: far beyond what HTTP servers accept. */
const MAX_VALUE_LENGTH = 2 ** 24;
/** A token between ASCII white space. */
const OPTION = /^[\t\n\f\r ]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t\n\f\r ]*$/;

/**
 * Rules in a table for JavaScript strings, which decides as the trie of the Rust crate `hedgerow-headers` does; a test
 * compares the two.
 *
 * A name's length and two of its characters select a slot. If it is empty, no rule equals the name; otherwise it
 * begins a chain of the rules that may. If there are prefix rules, two characters near the start of the name
 * select another slot.
 */
export class CompiledRules {
  /** The rules, each once. */
  readonly rules: readonly Rule[];
  /** The copy of these rules in `block.wasm`, once there is one. */
  block: { free(): void } | undefined;
  /** Whether `Connection` is stripped, so that the fields it nominates are stripped, too. */
  readonly stripsConnection: boolean;
  /** Number of bits by which a hash is shifted to the right to select a slot. */
  readonly #shift: number;
  /** The places of the two characters that select the slot of a name. */
  readonly #firstPlace: number;
  readonly #secondPlace: number;
  /** Length of the shortest prefix, or 0 if there is none. */
  readonly #shortestPrefix: number;
  /** One more than the number of the first rule of each slot, or 0. */
  readonly #slots: Uint16Array;
  #isFreed = false;

  /**
   * @param keeps whether the rules are an allow-list
   * @param isExact whether `-`, `_` and `.` are different characters
   * @throws {HedgerowError} as the constructor of `HeaderStripper`
   */
  constructor(
    rules: Iterable<string>,
    readonly keeps: boolean,
    readonly isExact: boolean,
  ) {
    const parsed = parseRules(rules, keeps);
    const shortest = parsed.reduce(
      (least, { lower, isExact }) => (isExact ? least : Math.min(least, lower.length)),
      Infinity,
    );
    this.rules = parsed;
    this.#shortestPrefix = shortest === Infinity ? 0 : shortest;
    const names = parsed.filter((rule) => rule.isExact).map(({ lower }) => lower);
    [this.#firstPlace, this.#secondPlace] = placesFor(names);
    // Counts one rule more: without rules the shift would be 32, which JavaScript treats as 0.
    this.#shift = Math.max(MIN_SHIFT, Math.clz32(SLOTS_PER_RULE * (parsed.length + 1)));
    this.#slots = new Uint16Array(2 ** (32 - this.#shift));
    for (const [index, rule] of parsed.entries()) {
      const { lower, isExact } = rule;
      const slot = isExact ? this.#slotOf(lower) : this.#prefixSlotOf(lower);
      rule.next = parsed[this.#slots[slot]! - 1];
      this.#slots[slot] = index + 1;
    }
    this.stripsConnection = this.strips("connection");
  }

  /** Returns whether a field is stripped, unless `Connection` nominates it. */
  strips(name: string): boolean {
    return this.keeps ? !this.matches(name) && !name.startsWith(":") : this.matches(name);
  }

  /** Returns whether a rule matches a name. */
  matches(name: string): boolean {
    const first = this.#slots[this.#slotOf(name)]!;
    if (first !== 0 && isInChain(name, first, this)) return true;
    const shortest = this.#shortestPrefix;
    if (shortest === 0 || name.length < shortest) return false;
    const prefix = this.#slots[this.#prefixSlotOf(name)]!;
    return prefix !== 0 && isInChain(name, prefix, this);
  }

  /** Returns whether a name is compared with rules. Most names are not: their slots are empty. */
  compares(name: string): boolean {
    const shortest = this.#shortestPrefix;
    return (
      this.#slots[this.#slotOf(name)] !== 0 ||
      (shortest > 0 && name.length >= shortest && this.#slots[this.#prefixSlotOf(name)] !== 0)
    );
  }

  /** Returns the slot of the rules that may equal a name. */
  #slotOf(name: string): number {
    const { length } = name;
    const characters = charactersAt(name, length, this.#firstPlace, this.#secondPlace);
    return Math.imul((length << 14) ^ characters, MULTIPLIER) >>> this.#shift;
  }

  /** Returns the slot of the prefixes that a name may begin with. */
  #prefixSlotOf(name: string): number {
    const characters = charactersAt(name, this.#shortestPrefix, USUAL[0], USUAL[1]);
    return Math.imul(characters, MULTIPLIER) >>> this.#shift;
  }

  /** Releases the copy in `block.wasm`. The rules must not be used afterwards. */
  free(): void {
    this.#isFreed = true;
    this.block?.free();
  }

  /**
   * Returns these rules if they can be used. Call it again after any code that may have freed them.
   *
   * @throws {HedgerowError} `ERR_FREED` after `free()`
   */
  live(): this {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "HeaderStripper was used after free()");
    }
    return this;
  }
}

/** Returns whether a rule of the chain of a slot, which is not empty, matches a name. */
function isInChain(name: string, slot: number, { rules, isExact }: CompiledRules): boolean {
  const { length } = name;
  for (let rule = rules[slot - 1]; rule !== undefined; rule = rule.next) {
    const { lower, capital, folded: text } = rule;
    let at = lower.length;
    if (length === at) {
      // Comparing strings is faster than comparing their characters for a name that is equal, and slower for one that
      // is only similar.
      if (
        rule.matchedLast &&
        name === (name.charCodeAt(0) === lower.charCodeAt(0) ? lower : capital)
      )
        return true;
    } else if (length < at || rule.isExact) {
      continue;
    }
    // Similar names differ near their ends more often than near their beginnings.
    at -= 1;
    while (at >= 0 && FOLDED[name.charCodeAt(at)] === text.charCodeAt(at)) at -= 1;
    rule.matchedLast = at < 0;
    if (at < 0 && (!isExact || name.toLowerCase().startsWith(lower))) return true;
  }
  return false;
}

/**
 * Returns the fields that a `Connection` value (RFC 9110 §7.6.1) nominates and no rule matches: the name in lower case, and
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
  const text = folded(name);
  return END_TO_END.some((other) =>
    other.endsWith("-") ? text.startsWith(other) : text === other,
  );
}
