/** The grammar of the first line of a filter file, as in the crate `hedgerow-paths`; a test compares the two. */
import { HedgerowError } from "../error.js";

/** Kinds of filters: the name of the member that has the numbers. */
export type Kind = "bloom" | "fuse";

/** What the first line of a filter says. */
export interface Parsed {
  kind: Kind;
  numbers: Numbers;
  /** Depth of the deepest wildcard key; 0 if there are none. */
  wildcards: number;
  /** Length of the line with its end, in bytes. */
  length: number;
}

/** The integers of the members `bloom` and `fuse`. */
export interface Numbers {
  m: number;
  s: number;
  k?: number;
  l?: number;
  q?: number;
}

/** Range of an integer, and its description. */
export type Range = readonly [min: number, max: number, expected: string];

/** Longest line, in bytes. */
export const MAX_LENGTH = 2 ** 16;
const MAX_DEPTH = 32;
const ANY: Range = [0, Number.MAX_SAFE_INTEGER, "an integer from 0 to 2^53 - 1"];
export const WILDCARDS: Range = [1, 64, "a depth from 1 to 64"];
/** A member that is a number, but not used. */
export const RATE = undefined;

/** The members of each kind, in the order in which a missing one is reported. */
export const MEMBERS: Record<Kind, Record<string, Range | typeof RATE>> = {
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

/** The characters of a string with their escapes, in which every byte of UTF-8 is one character. */
const CHARACTERS = /(?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*/y;
/** Number of digits of the largest integer. */
const MAX_DIGITS = 16;
const WORDS = ["true", "false", "null"];

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

/** Returns the error for an unexpected byte, or an unexpected number, at an offset in a file. */
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

/** Returns whether the slots of a fuse filter are whole segments, at least three. */
export function isDivided({ m, l }: Numbers): boolean {
  return l === undefined || (m % l === 0 && m >= 3 * l);
}

/**
 * Reads the first line at the beginning of a file, without building values. Its grammar is that of JSON (RFC 8259),
 * except that a line feed ends the line.
 *
 * @throws {HedgerowError} `ERR_FILTER_FORMAT`
 */
export function parseFirstLine(bytes: Uint8Array): Parsed {
  // Bytes as characters, so that positions in the text are offsets in the file.
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  let at = 0;

  /** Throws the error for an unexpected byte at this position. */
  function fail(expected: string): never {
    throw mismatch(expected, at, bytes[at]);
  }

  /** Reports a missing member before the brace that was read last. */
  function missing(expected: string): never {
    at -= 1;
    fail(expected);
  }

  /** Rejects a duplicate member: parsers differ in which of the two they use. */
  function once(isThere: boolean): void {
    if (isThere) fail("a member only once");
  }

  function skipSpace(): void {
    while (text[at] === " " || text[at] === "\t" || text[at] === "\r") at += 1;
  }

  /** Skips the next character if it is one of `characters`. Returns whether it was. */
  function skipOne(characters: string): boolean {
    const isNext = at < text.length && characters.includes(text[at]!);
    if (isNext) at += 1;
    return isNext;
  }

  function isDigit(): boolean {
    return at < text.length && text[at]! >= "0" && text[at]! <= "9";
  }

  /** Skips white space, then `character` if it is next. Returns whether it was. */
  function skip(character: string): boolean {
    skipSpace();
    return skipOne(character);
  }

  function expect(character: string, expected: string): void {
    if (!skip(character)) fail(expected);
  }

  /** Reads an object. `read` receives the name of each member with its escapes, and reads its value. */
  function object(read: (name: string) => void): void {
    expect("{", "{ and a member");
    if (skip("}")) return;
    do {
      const name = string();
      expect(":", ":");
      skipSpace();
      read(name);
    } while (skip(","));
    expect("}", ", or }");
  }

  /** Reads a string after white space, and returns its bytes as characters, with its escapes. */
  function string(): string {
    expect('"', "a string");
    const start = at;
    CHARACTERS.lastIndex = at;
    const [found] = CHARACTERS.exec(text)!;
    at += found.length;
    if (skipOne("\\")) {
      if (!skipOne("u")) fail("an escape");
      while (/[\dA-Fa-f]/.test(text[at] ?? "")) at += 1;
      fail("a hexadecimal digit");
    }
    if (text[at] !== '"') fail("a character of a string, or its end");
    if (/[^ -~]/.test(found)) checkUtf8(start);
    at += 1;
    return found;
  }

  /** Rejects bytes up to this position that decoding replaces. */
  function checkUtf8(start: number): void {
    const encoded = bytes.subarray(start, at);
    const valid = encoder.encode(decode(encoded));
    let wrong = valid.findIndex((byte, index) => byte !== encoded[index]);
    if (wrong < 0) return;
    // Bytes at the start of the replacement character may be equal by chance.
    while ((valid[wrong]! & 0xc0) === 0x80) wrong -= 1;
    at = start + wrong;
    fail("UTF-8");
  }

  /** Reads an integer within a range, written without a fraction or an exponent. */
  function integer([min, max, expected]: Range): number {
    const start = at;
    if (!skipOne("0")) while (isDigit() && at < start + MAX_DIGITS) at += 1;
    const value = Number(text.slice(start, at));
    const isTooLarge = value > Number.MAX_SAFE_INTEGER;
    if (isTooLarge) at -= 1;
    if (isTooLarge || at === start || isDigit() || ".eE".includes(text[at] ?? "}")) {
      fail(expected);
    }
    if (value < min || value > max) throw mismatch(expected, start, undefined, value);
    return value;
  }

  /** Skips one digit or more. */
  function digits(expected: string): void {
    if (!isDigit()) fail(expected);
    while (isDigit()) at += 1;
  }

  function number(): void {
    skipOne("-");
    const start = at;
    digits("a value");
    if (text[start] === "0" && at > start + 1) fail("a number without leading zeros");
    if (skipOne(".")) digits("a digit");
    if (skipOne("eE")) {
      skipOne("+-");
      digits("a digit");
    }
  }

  /** Skips a value with at most `depth` levels of objects and arrays. */
  function value(depth: number): void {
    skipSpace();
    const next = text[at];
    const word = WORDS.find(([first]) => first === next);
    if (depth === 0 && (next === "{" || next === "[")) fail("no deeper nesting");
    if (next === "{") object(() => value(depth - 1));
    else if (next === "[") {
      at += 1;
      if (skip("]")) return;
      do value(depth - 1);
      while (skip(","));
      expect("]", ", or ]");
    } else if (next === '"') string();
    else if (word === undefined) number();
    else {
      for (const character of word) {
        if (text[at] !== character) fail("a value");
        at += 1;
      }
    }
  }

  /**
   * Skips an unknown member. Rejects an escape in its name, since other parsers would unescape it and could read it as
   * one of the known members.
   */
  function unknown(name: string): void {
    if (name.includes("\\")) fail("a member whose name has no escape");
    value(MAX_DEPTH);
  }

  /** Reads the member `bloom` or `fuse`. */
  function numbersOf(kind: Kind): Numbers {
    const members = MEMBERS[kind];
    const numbers: Record<string, number> = {};
    object((name) => {
      if (!Object.hasOwn(members, name)) return unknown(name);
      once(Object.hasOwn(numbers, name));
      const range = members[name];
      if (range === RATE) {
        if (text[at] === "-") fail("a number that is not negative");
        number();
      }
      numbers[name] = range === RATE ? 0 : integer(range);
    });
    for (const name in members) {
      if (!Object.hasOwn(numbers, name)) missing(`the member ${name} of ${kind}`);
    }
    const complete = numbers as unknown as Numbers;
    if (!isDivided(complete)) {
      const expected = "a number of slots m that is a multiple of l, at least 3 l";
      throw mismatch(expected, at - 1, undefined, complete.m);
    }
    return complete;
  }

  if (text.startsWith("\xef\xbb\xbf")) fail("no byte order mark");
  let hasVersion = false;
  let kind: Kind | undefined;
  let numbers: Numbers | undefined;
  let wildcards: number | undefined;
  object((name) => {
    if (name === "version") {
      once(hasVersion);
      string();
      hasVersion = true;
    } else if (name === "bloom" || name === "fuse") {
      if (kind) fail("one of the members bloom and fuse, only once");
      numbers = numbersOf(name);
      kind = name;
    } else if (name === "wildcards") {
      once(wildcards !== undefined);
      wildcards = integer(WILDCARDS);
    } else unknown(name);
  });
  if (!hasVersion) missing("the member version");
  if (!kind) missing("the member bloom or fuse");
  expect("\n", "the end of line 1");
  const length = at;
  const lineLength = length - (text[length - 2] === "\r" ? 2 : 1);
  if (lineLength > MAX_LENGTH) {
    throw mismatch(`a first line of at most ${MAX_LENGTH} bytes`, 0, undefined, lineLength);
  }
  return { kind, numbers: numbers!, wildcards: wildcards ?? 0, length };
}
