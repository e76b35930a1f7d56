/** Reads the first line of a filter file, as the crate `hedgerow-paths` does: a test holds one to the other. */
import { HedgerowError } from "../error.js";

/** The first line of a filter file: what a query needs of it, and the second line that it requires. */
export interface FirstLine {
  kind: "bloom" | "fuse";
  /** Number of bits, or of slots of a fuse filter. */
  m: number;
  /** Number of bits per key, or the segment length of a fuse filter. */
  kOrL: number;
  /** Multiplier of the hashes of a fuse filter; 0 for a Bloom filter. */
  q: number;
  /** Seed of the hashes. */
  s: number;
  /** Depth of the deepest wildcard key; 0 if there are none. */
  wildcards: number;
  /** Length of the line with its end, in bytes. */
  length: number;
  /** Smallest number of characters in the second line, without padding. */
  minBody: number;
  /** Largest number of characters in the second line, with padding. */
  maxBody: number;
}

/** The integers of the members `bloom` and `fuse`. */
interface Numbers {
  m: number;
  s: number;
  k?: number;
  l?: number;
  q?: number;
}

/** Range of an integer, and its description. */
type Range = readonly [min: number, max: number, expected: string];

const MAX_LENGTH = 2 ** 16;
const MAX_DEPTH = 32;
const ANY: Range = [0, Number.MAX_SAFE_INTEGER, "an integer from 0 to 2^53 - 1"];
const WILDCARDS: Range = [1, 64, "a depth from 1 to 64"];
/** A member that is a number, but not used. */
const RATE = undefined;

/** The members of each kind, in the order in which a missing one is reported. */
const MEMBERS: Record<FirstLine["kind"], Record<string, Range | typeof RATE>> = {
  bloom: {
    n: ANY,
    m: [1, 2 ** 32 - 1, "a number of bits m from 1 to 2^32 - 1"],
    k: [1, 64, "a number of hashes k from 1 to 64"],
    s: ANY,
    p: RATE,
  },
  fuse: {
    n: ANY,
    m: [3, 2 ** 28, "a number of slots m from 3 to 2^28"],
    l: [1, 2 ** 16, "a segment length l from 1 to 2^16"],
    q: ANY,
    s: ANY,
  },
};

const [TAB, RETURN, SPACE, QUOTE, BACKSLASH] = [0x09, 0x0d, 0x20, 0x22, 0x5c];

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Decodes UTF-8. A byte order mark is a character like any other. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Returns the error for a file that is not a path filter. */
export function formatError(message: string): HedgerowError {
  return new HedgerowError("ERR_FILTER_FORMAT", `path filter: ${message}`);
}

/** Returns the error for what was found at an offset in a file: a number, or else the byte there. */
export function mismatch(
  expected: string,
  at: number,
  byte: number | undefined,
  found: number | string = byte === undefined
    ? "the end"
    : `0x${byte.toString(16).padStart(2, "0")}`,
): HedgerowError {
  return formatError(`expected ${expected}, found ${found} at byte ${at}`);
}

/**
 * Reads the first line at the beginning of a file.
 *
 * @throws {HedgerowError} `ERR_FILTER_FORMAT`
 */
export function readFirstLine(bytes: Uint8Array): FirstLine {
  return new Reader(bytes).line();
}

/** A JSON parser that builds no values. Its grammar is that of RFC 8259, except that a line feed ends the line. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  line(): FirstLine {
    const [first, second, third] = this.#bytes;
    if (first === 0xef && second === 0xbb && third === 0xbf) this.#fail("no byte order mark");
    const found: { kind?: FirstLine["kind"]; numbers?: Numbers; wildcards?: number } = {};
    let hasVersion = false;
    this.#object((name) => {
      if (name === "version") {
        this.#once(hasVersion);
        this.#string();
        hasVersion = true;
      } else if (name === "bloom" || name === "fuse") {
        if (found.kind) this.#fail("one of the members bloom and fuse, only once");
        found.numbers = this.#numbers(name);
        found.kind = name;
      } else if (name === "wildcards") {
        this.#once(found.wildcards !== undefined);
        found.wildcards = this.#integer(WILDCARDS);
      } else this.#unknown(name);
    });
    const { kind, numbers, wildcards = 0 } = found;
    if (!hasVersion) this.#missing("the member version");
    if (kind === undefined) this.#missing("the member bloom or fuse");
    this.#expect("\n", "the end of line 1");
    const length = this.#at;
    const text = length - (this.#bytes[length - 2] === RETURN ? 2 : 1);
    if (text > MAX_LENGTH) {
      throw mismatch(`a first line of at most ${MAX_LENGTH} bytes`, 0, undefined, text);
    }
    const { m, k = 0, l = k, q = 0, s } = numbers!;
    const [minBody, maxBody] =
      kind === "fuse" ? [4 * m, 4 * m] : [Math.ceil(m / 6), Math.ceil(m / 24) * 4];
    return { kind, m, kOrL: l, q, s, wildcards, length, minBody, maxBody };
  }

  /** Reads the member `bloom` or `fuse`. */
  #numbers(kind: FirstLine["kind"]): Numbers {
    const members = MEMBERS[kind];
    const numbers: Record<string, number> = {};
    this.#object((name) => {
      if (!Object.hasOwn(members, name)) return this.#unknown(name);
      this.#once(Object.hasOwn(numbers, name));
      const range = members[name];
      numbers[name] = range === RATE ? this.#rate() : this.#integer(range);
    });
    for (const name of Object.keys(members)) {
      if (!Object.hasOwn(numbers, name)) this.#missing(`the member ${name} of ${kind}`);
    }
    const { m, l } = numbers as unknown as Numbers;
    if (l !== undefined && (m % l !== 0 || m < 3 * l)) {
      const expected = "a number of slots m that is a multiple of l, at least 3 l";
      throw mismatch(expected, this.#at - 1, undefined, m);
    }
    return numbers as unknown as Numbers;
  }

  /** Reports that the byte at this position is not what was expected. */
  #fail(expected: string): never {
    throw mismatch(expected, this.#at, this.#byte());
  }

  /** Reports a missing member before the brace that was read last. */
  #missing(expected: string): never {
    this.#at -= 1;
    this.#fail(expected);
  }

  /** Rejects a duplicate member, since parsers differ in which of the two they use. */
  #once(isThere: boolean): void {
    if (isThere) this.#fail("a member only once");
  }

  /**
   * Skips an unknown member. Rejects an escape in its name, since other parsers would unescape it and could read it as
   * one of the known members.
   */
  #unknown(name: string): void {
    if (name.includes("\\")) this.#fail("a member whose name has no escape");
    this.#value(MAX_DEPTH);
  }

  #byte(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Skips white space and returns the next byte. */
  #peek(): number | undefined {
    let byte = this.#byte();
    while (byte === SPACE || byte === TAB || byte === RETURN) {
      this.#at += 1;
      byte = this.#byte();
    }
    return byte;
  }

  /** Skips white space, then `character` if it is next. Returns whether it was. */
  #skip(character: string): boolean {
    const isNext = this.#peek() === character.charCodeAt(0);
    if (isNext) this.#at += 1;
    return isNext;
  }

  #expect(character: string, expected: string): void {
    if (!this.#skip(character)) this.#fail(expected);
  }

  /** Reads an object. `read` receives the name of each member with its escapes, and reads its value. */
  #object(read: (name: string) => void): void {
    this.#expect("{", "{ and a member");
    if (this.#skip("}")) return;
    do {
      const name = this.#string();
      this.#expect(":", ":");
      this.#peek();
      read(name);
    } while (this.#skip(","));
    this.#expect("}", ", or }");
  }

  /** Reads a string after white space, and returns its text with its escapes. */
  #string(): string {
    this.#expect('"', "a string");
    const start = this.#at;
    let seen = 0;
    for (let byte = this.#byte(); byte !== QUOTE; byte = this.#byte()) {
      if (byte === undefined || byte < SPACE) {
        this.#fail("a character of a string, or its end");
      }
      seen |= byte;
      this.#at += 1;
      if (byte === BACKSLASH) this.#escape();
    }
    const bytes = this.#bytes.subarray(start, this.#at);
    const text = decode(bytes);
    if (seen >= 0x80) this.#checkUtf8(bytes, start, text);
    this.#at += 1;
    return text;
  }

  /** Rejects bytes that decoding has replaced. */
  #checkUtf8(bytes: Uint8Array, start: number, text: string): void {
    const valid = encoder.encode(text);
    let at = valid.findIndex((byte, index) => byte !== bytes[index]);
    if (at < 0) return;
    // Bytes at the start of the replacement character may be equal by chance.
    while ((valid[at]! & 0xc0) === 0x80) at -= 1;
    this.#at = start + at;
    this.#fail("UTF-8");
  }

  #escape(): void {
    const kind = String.fromCharCode(this.#byte() ?? 0);
    if (!'"\\/bfnrtu'.includes(kind)) this.#fail("an escape");
    this.#at += 1;
    if (kind !== "u") return;
    for (const end = this.#at + 4; this.#at < end; this.#at += 1) {
      const digit = String.fromCharCode(this.#byte() ?? 0);
      if (!/[\da-f]/i.test(digit)) this.#fail("a hexadecimal digit");
    }
  }

  /** Reads an integer within a range, written without a fraction or an exponent. */
  #integer([min, max, expected]: Range): number {
    const start = this.#at;
    let integer = 0;
    while (this.#isDigit()) {
      const hasZeroInFront = this.#at > start && integer === 0;
      integer = integer * 10 + (this.#byte()! - 0x30);
      if (hasZeroInFront || integer > Number.MAX_SAFE_INTEGER) this.#fail(expected);
      this.#at += 1;
    }
    if (this.#at === start || this.#isOneOf(".eE")) this.#fail(expected);
    if (integer < min || integer > max) throw mismatch(expected, start, undefined, integer);
    return integer;
  }

  /** Skips a number that is not negative. */
  #rate(): number {
    if (this.#isOneOf("-")) this.#fail("a number that is not negative");
    this.#number();
    return 0;
  }

  /** Skips a value with at most `depth` levels of objects and arrays. */
  #value(depth: number): void {
    const next = String.fromCharCode(this.#peek() ?? 0);
    if ("{[".includes(next) && depth === 0) this.#fail("no deeper nesting");
    if (next === "{") this.#object(() => this.#value(depth - 1));
    else if (next === "[") this.#array(depth);
    else if (next === '"') this.#string();
    else if (next === "t") this.#word("true");
    else if (next === "f") this.#word("false");
    else if (next === "n") this.#word("null");
    else this.#number();
  }

  #array(depth: number): void {
    this.#at += 1;
    if (this.#skip("]")) return;
    do this.#value(depth - 1);
    while (this.#skip(","));
    this.#expect("]", ", or ]");
  }

  #word(word: string): void {
    for (const character of word) {
      if (!this.#isOneOf(character)) this.#fail("a value");
      this.#at += 1;
    }
  }

  #number(): void {
    this.#skipOneOf("-");
    const hasZeroInFront = this.#isOneOf("0");
    if (this.#digits("a value") > 1 && hasZeroInFront) {
      this.#fail("a number without zeros in front");
    }
    if (this.#skipOneOf(".")) this.#digits("a digit");
    if (this.#skipOneOf("eE")) {
      this.#skipOneOf("+-");
      this.#digits("a digit");
    }
  }

  /** Skips digits, and returns their number. */
  #digits(expected: string): number {
    const start = this.#at;
    while (this.#isDigit()) this.#at += 1;
    if (this.#at === start) this.#fail(expected);
    return this.#at - start;
  }

  #isDigit(): boolean {
    return this.#isOneOf("0123456789");
  }

  /** Returns whether the next byte is one of these characters. */
  #isOneOf(characters: string): boolean {
    return characters.includes(String.fromCharCode(this.#byte() ?? 0));
  }

  #skipOneOf(characters: string): boolean {
    const isNext = this.#isOneOf(characters);
    if (isNext) this.#at += 1;
    return isNext;
  }
}
