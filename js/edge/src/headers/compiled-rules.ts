import { HedgerowError } from "../error.js";
import { compileRules } from "./compile-rules.js";

const decoder = new TextDecoder();

/** Length of the header of an image, in bytes. */
const HEADER_LENGTH = 48;
/** Bytes of a node of the trie, which only `block.wasm` reads. */
const NODE_LENGTH = 16;
/** Bit 5, which distinguishes an ASCII letter's lower case from its upper case. */
const FOLD = 0x20;
/** 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;
/** The kind of a rule that matches one name. */
const EXACT = 0;

/** Bytes by character code, with ASCII letters in lower case. */
const LOWER = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 65 && code <= 90 ? code | FOLD : code,
);

/** A rule that names were compared with. */
interface Rule {
  /** Its text in lower case. */
  readonly lower: string;
  /** The same as most HTTP/1.1 implementations write it. */
  readonly capital: string;
  readonly length: number;
  /** Where its text starts. */
  readonly start: number;
  /** The code of its first character. */
  readonly first: number;
  readonly isExact: boolean;
  /** One more than the number of the next rule of the same slot, or 0. */
  readonly next: number;
  /** Whether the last name compared with it was equal. */
  matchedLast: boolean;
}

/**
 * Rules compiled by the WebAssembly module, which match JavaScript strings without any call into it.
 *
 * `src/layout.rs` and `Probe` in the Rust crate `hedgerow-headers` define the image and how to read it. A
 * name's length and two of its characters select a slot, which is empty if no rule matches; otherwise it
 * begins a chain of the rules that may. If there are prefix rules, two characters near the start of the name
 * select another.
 */
export class CompiledRules {
  /** The compiled rules, as `block.wasm` reads them. */
  readonly image: Uint8Array<ArrayBuffer>;
  /** The copy of these rules in `block.wasm`, once there is one. */
  block: { free(): void } | undefined;
  /** Whether `Connection` is stripped, so that the fields it nominates are stripped, too. */
  readonly stripsConnection: boolean;
  readonly #shift: number;
  readonly #shortestPrefix: number;
  /** One more than the number of the first rule of each slot, or 0. */
  readonly #slots: Uint16Array;
  /** One more than the number of the next rule of the same slot, or 0. */
  readonly #chains: Uint16Array;
  /** Four numbers for each rule: the two halves of the offset of its text, its length and its kind. */
  readonly #records: Uint16Array;
  /** The texts of all rules, in lower case. */
  readonly #text: Uint8Array;
  /** The rules that names were compared with. */
  readonly #rules: (Rule | undefined)[];
  #isFreed = false;

  /**
   * @param keeps whether the rules are an allow-list
   * @throws {HedgerowError} as the constructor of `HeaderStripper`
   */
  constructor(
    rules: Iterable<string>,
    readonly keeps: boolean,
  ) {
    const image = compileRules(rules, keeps);
    const header = new DataView(image.buffer);
    const bits = header.getUint8(8);
    const [count, nodes] = [header.getUint32(16, true), header.getUint32(20, true)];
    const recordsAt = HEADER_LENGTH + (2 << bits) + NODE_LENGTH * nodes;
    const chainsAt = recordsAt + 8 * count;
    this.image = image;
    this.#shift = 32 - bits;
    this.#shortestPrefix = header.getUint16(14, true);
    this.#slots = new Uint16Array(image.buffer, HEADER_LENGTH, 1 << bits);
    this.#records = new Uint16Array(image.buffer, recordsAt, 4 * count);
    this.#chains = new Uint16Array(image.buffer, chainsAt, count);
    this.#text = image.subarray(chainsAt + 2 * count);
    this.#rules = new Array(count).fill(undefined);
    this.stripsConnection = this.strips("connection");
  }

  /** Returns whether a field is stripped, unless `Connection` nominates it. */
  strips(name: string): boolean {
    return this.keeps ? !this.matches(name) && !name.startsWith(":") : this.matches(name);
  }

  /** Returns whether a rule matches a name. */
  matches(name: string): boolean {
    const { length } = name;
    if (length === 0) return false;
    const key = (length << 14) ^ charactersOf(name, length);
    const first = this.#slots[Math.imul(key, MULTIPLIER) >>> this.#shift]!;
    if (first !== 0 && this.#isInChain(name, first)) return true;
    return this.#shortestPrefix !== 0 && this.#hasPrefix(name);
  }

  /** Returns whether a prefix rule matches a name. */
  #hasPrefix(name: string): boolean {
    const shortest = this.#shortestPrefix;
    if (name.length < shortest) return false;
    const hash = Math.imul(charactersOf(name, shortest), MULTIPLIER);
    const prefix = this.#slots[hash >>> this.#shift]!;
    return prefix !== 0 && this.#isInChain(name, prefix);
  }

  /** Returns whether a rule of a chain, which `first` begins, matches a name. */
  #isInChain(name: string, first: number): boolean {
    const text = this.#text;
    const { length } = name;
    for (let next = first; next !== 0; ) {
      const rule = this.#rules[next - 1] ?? this.#read(next - 1);
      next = rule.next;
      if (length === rule.length) {
        // Comparing strings is faster than comparing characters for a name that is equal, and slower for
        // one that is only similar.
        if (rule.matchedLast) {
          const isLower = name.charCodeAt(0) === rule.first;
          if (name === (isLower ? rule.lower : rule.capital)) return true;
        }
      } else if (length < rule.length || rule.isExact) {
        continue;
      }
      // Similar names differ near their ends more often than near their beginnings.
      const { start } = rule;
      let at = rule.length - 1;
      while (at >= 0 && LOWER[name.charCodeAt(at)] === text[start + at]) at -= 1;
      rule.matchedLast = at < 0;
      if (at < 0) return true;
    }
    return false;
  }

  /** Reads a rule and returns it. */
  #read(number: number): Rule {
    const [low, high, length, kind] = this.#records.subarray(4 * number, 4 * number + 4);
    const start = low! | (high! << 16);
    const lower = decoder.decode(this.#text.subarray(start, start + length!));
    const rule = {
      lower,
      capital: lower.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      length: length!,
      start,
      first: lower.charCodeAt(0),
      isExact: kind === EXACT,
      next: this.#chains[number]!,
      matchedLast: true,
    };
    this.#rules[number] = rule;
    return rule;
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

/** Combines two of the first `length` characters of a name: in the middle, and at seven eighths. */
function charactersOf(name: string, length: number): number {
  const middle = name.charCodeAt(length >> 1) | FOLD;
  const late = name.charCodeAt((length * 7) >> 3) | FOLD;
  return (middle << 7) ^ late;
}
