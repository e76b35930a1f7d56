import source from "wasm:paths";

import type { InitOutput } from "../../wasm/paths.js";
import { HedgerowError } from "../error.js";
import { WasmModule, WasmObject } from "../module.js";
import { type FirstLine, readFirstLine } from "./first-line.js";
import { KeyWriter } from "./key-writer.js";
import { decode, formatError, mismatch } from "./parse-first-line.js";

/** The module that queries path filters. */
export const pathsModule = /* @__PURE__ */ new WasmModule<InitOutput>(
  "paths",
  "filter_new",
  source,
);

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const PADDING = 0x3d;

/** Longest first line, in bytes, including CR LF. */
const MAX_LINE_LENGTH = 2 ** 16 + 2;
/** Length of what may follow the padded characters of the second line: a quote and CR LF. */
const MAX_END_LENGTH = 3;
/** Initial capacity for the second line, in bytes, if the first line allows as much. */
const INITIAL_CAPACITY = 2 ** 20;

/** A filter file: its first line, and its second line in the module's memory, where queries read it. */
export class FilterFile {
  readonly #object: WasmObject;
  readonly #keys: KeyWriter;
  readonly #expectedLength: number;
  #isFreed = false;
  /** Copies of the bytes up to the quote that opens the second line, until all have arrived. */
  #head: Uint8Array[] = [];
  /** Set when the first line and that quote have arrived. */
  #line: FirstLine | undefined;
  #header = new Uint8Array(0);
  /** Address of the bytes after that quote, their number, and the capacity for them. */
  #start = 0;
  #restLength = 0;
  #capacity = 0;
  /** Number of bytes appended so far. */
  length = 0;

  /**
   * @param expectedLength claimed length of the file, in bytes. Its memory is reserved at once, up to the
   * length that the first line allows
   */
  constructor(expectedLength = 0) {
    const { filter_new, filter_reserve_key, __wbg_filter_free } = pathsModule.exports;
    const object = new WasmObject(filter_new(), __wbg_filter_free);
    const reserve_key = (length: number) => filter_reserve_key(object.pointer, length) >>> 0;
    this.#object = object;
    this.#keys = new KeyWriter({ reserve_key }, memory);
    this.#expectedLength = expectedLength;
  }

  /**
   * Appends the next bytes of the file.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT` as soon as the file is certainly invalid
   */
  append(bytes: Uint8Array): void {
    const rest = this.#line === undefined ? bytes.subarray(this.#appendHead(bytes)) : bytes;
    if (this.#line === undefined || rest.length === 0) return;
    const maxLength = this.#line.maxBody + MAX_END_LENGTH;
    // One byte beyond the maximum is enough to detect that the file is too long.
    this.#appendRest(rest.subarray(0, maxLength + 1 - this.#restLength), maxLength);
    if (this.#restLength > maxLength) this.parse(true);
  }

  /** Appends bytes up to the quote after the first line. Returns how many. */
  #appendHead(bytes: Uint8Array): number {
    const hasLine = this.#head.at(-1)?.at(-1) === LINE_FEED;
    const lineFeed = hasLine
      ? -1
      : bytes.subarray(0, MAX_LINE_LENGTH - this.length).indexOf(LINE_FEED);
    if (!hasLine && lineFeed < 0 && this.length + bytes.length >= MAX_LINE_LENGTH) {
      throw formatError("expected a first line of at most 65536 bytes, found more");
    }
    const added = hasLine || lineFeed >= 0 ? bytes.subarray(0, lineFeed + 2) : bytes;
    // Not `slice`, which does not copy Node's buffers.
    const head = new Uint8Array(added);
    if (head.length > 0) this.#head.push(head);
    this.length += head.length;
    const isComplete = hasLine ? head.length > 0 : lineFeed >= 0 && head.length === lineFeed + 2;
    if (isComplete) this.#readHead();
    return head.length;
  }

  /** Reads the first line and the quote after it. */
  #readHead(): FirstLine {
    const head = new Uint8Array(this.length);
    let at = 0;
    for (const bytes of this.#head) {
      head.set(bytes, at);
      at += bytes.length;
    }
    const line = readFirstLine(head);
    const quote = head[line.length];
    if (quote !== QUOTE) throw mismatch("the quote that opens line 2", line.length, quote);
    this.#line = line;
    this.#header = head.subarray(0, line.length - 1);
    this.#head = [];
    return line;
  }

  #appendRest(bytes: Uint8Array, maxLength: number): void {
    const length = this.#restLength + bytes.length;
    if (length > this.#capacity) {
      const ahead = Math.max(2 * this.#capacity, INITIAL_CAPACITY, this.#expectedLength);
      this.#reserve(Math.max(length, Math.min(ahead, maxLength)));
    }
    memory().set(bytes, this.#start + this.#restLength);
    this.#restLength = length;
    this.length += bytes.length;
  }

  #reserve(capacity: number): void {
    this.#start = pathsModule.exports.filter_reserve(this.#object.pointer, capacity) >>> 0;
    if (this.#start === 0) {
      throw formatError(`not enough memory for ${capacity} bytes`);
    }
    this.#capacity = capacity;
  }

  /**
   * Parses the bytes appended so far as the whole file.
   *
   * @param isTrusted whether to skip the check that all characters are Base64
   * @throws {HedgerowError} `ERR_FILTER_FORMAT`
   */
  parse(isTrusted: boolean): void {
    // Reading an incomplete first line throws.
    const line = this.#line ?? this.#readHead();
    const rest = memory().subarray(this.#start, this.#start + this.#restLength);
    const offset = line.length + 1;
    const characters = bodyLength(rest, line, offset);
    const { filter_first_illegal, filter_open } = pathsModule.exports;
    const { pointer } = this.#object;
    const illegal = isTrusted ? -1 : filter_first_illegal(pointer, characters);
    if (illegal >= 0) throw mismatch("a character of Base64", offset + illegal, rest[illegal]);
    const { kind, m, kOrL, q, s } = line;
    filter_open(pointer, characters, Number(kind === "fuse"), m, kOrL, q, s);
  }

  /** The first line. Empty until it has arrived. */
  get header(): string {
    return decode(this.#header);
  }

  /** Depth of the deepest wildcard key; 0 if there are none. */
  get wildcards(): number {
    return this.#line?.wildcards ?? 0;
  }

  /** Returns whether the filter has a path. */
  has(path: string): boolean {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "PathFilter was used after free()");
    }
    const length = this.#keys.write(path);
    const isPresent = pathsModule.exports.filter_has(this.#object.pointer, length) !== 0;
    this.#keys.release(length);
    return isPresent;
  }

  /** Releases the module's memory. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#object.free();
  }
}

const memory = () => pathsModule.memory();

/** Returns the number of characters before the padding, in the bytes after the quote at `offset`. */
function bodyLength(rest: Uint8Array, { minBody, maxBody }: FirstLine, offset: number): number {
  let padded = rest.length;
  if (rest[padded - 1] === LINE_FEED) padded -= rest[padded - 2] === RETURN ? 2 : 1;
  padded -= 1;
  if (rest[padded] !== QUOTE) throw notClosed(rest, minBody, offset);
  let characters = padded;
  for (let paddings = 0; paddings < 2 && rest[characters - 1] === PADDING; paddings += 1) {
    characters -= 1;
  }
  if (characters < minBody) throw tooFew(characters, minBody, offset);
  if (padded > maxBody) {
    const expected = `${maxBody} characters of Base64 in line 2, or fewer`;
    throw mismatch(expected, offset, undefined, padded);
  }
  return characters;
}

/** Returns the error for a file that does not end with the quote that closes the second line. */
function notClosed(rest: Uint8Array, minBody: number, offset: number): HedgerowError {
  const after = rest.indexOf(QUOTE) + 1;
  if (after > 0) return mismatch("the end of the file", offset + after, rest[after]);
  if (rest.length < minBody) return tooFew(rest.length, minBody, offset);
  return mismatch("the quote that closes line 2", offset + rest.length, undefined);
}

function tooFew(characters: number, minBody: number, offset: number): HedgerowError {
  const expected = `${minBody} characters of Base64 in line 2, or more`;
  return mismatch(expected, offset, undefined, characters);
}
