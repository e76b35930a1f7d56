import { HedgerowError } from "../error.js";
import { WasmObject } from "../module.js";
import { KeyWriter } from "./key-writer.js";
import { pathsModule } from "./module.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const LINE_FEED = 10;
/** Sentinel of `Filter.parse` for "no value". */
const NONE = -1;
/** `Filter.parse` returns a byte as this value minus the byte, to distinguish it from a number. */
const BYTE_BASE = -2;
/** The expected count, the value found, and its offset. */
type Mismatch = [count: number, found: number, offset: number];
/**
 * The result of `Filter.parse`. If it succeeds: the address and length of the header, and the depth of the
 * wildcards. If it fails: 0, the address and length of the expectation, and the mismatch.
 */
type ParseResult = [start: number, lengthOrText: number, wildcardsOrLength: number, ...Mismatch];

/** Longest first line, in bytes, including CR LF. */
const MAX_HEADER_LENGTH = 2 ** 16 + 2;
/** Initial capacity for the file, in bytes, if its first line allows as much. */
const INITIAL_CAPACITY = 2 ** 20;

/** A filter file in the module's memory, and the filter that reads it there. */
export class FilterFile {
  readonly #object: WasmObject;
  readonly #keys: KeyWriter;
  readonly #expectedLength: number;
  #isFreed = false;
  #start = 0;
  #capacity = 0;
  /** Offset of the first line's end; -1 until it has arrived. */
  #lineEnd = -1;
  /** Longest length that the first line allows; 0 until it has arrived. */
  #maxLength = 0;
  #header = "";
  /** Number of bytes appended so far. */
  length = 0;
  /** Depth of the deepest wildcard key; 0 if there are none. */
  wildcards = 0;

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
    const rest = this.#maxLength > 0 ? bytes : bytes.subarray(this.#appendHeader(bytes));
    if (rest.length === 0) return;
    // One byte beyond the maximum is enough to detect that the file is too long.
    this.#write(rest.subarray(0, this.#maxLength + 1 - this.length));
    if (this.length > this.#maxLength) this.parse(true);
  }

  /** Appends bytes up to the quote after the first line. Returns how many. */
  #appendHeader(bytes: Uint8Array): number {
    if (this.#lineEnd < 0) {
      const lineFeed = bytes.subarray(0, MAX_HEADER_LENGTH - this.length).indexOf(LINE_FEED);
      if (lineFeed >= 0) this.#lineEnd = this.length + lineFeed;
      else if (this.length + bytes.length >= MAX_HEADER_LENGTH) {
        throw formatError("expected a first line of at most 65536 bytes, found more");
      }
    }
    const end = this.#lineEnd < 0 ? bytes.length : this.#lineEnd + 2 - this.length;
    this.#write(bytes.subarray(0, end));
    if (this.#lineEnd >= 0 && this.length === this.#lineEnd + 2)
      this.#maxLength = this.#parseHeader();
    return end;
  }

  /** Parses the first line alone, and returns the longest length that it allows. */
  #parseHeader(): number {
    const [, , , count, , offset] = this.#parse(true);
    // A valid first line fails here only because the characters after the quote are missing.
    if (count === NONE) this.parse(true);
    this.#capacity = this.length;
    // The last group is padded; a quote and CR LF may follow.
    return offset + Math.ceil(count / 4) * 4 + 3;
  }

  #write(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#capacity) {
      const ahead = Math.max(2 * this.#capacity, INITIAL_CAPACITY, this.#expectedLength);
      this.#reserve(Math.max(length, Math.min(ahead, this.#maxLength)));
    }
    memory().set(bytes, this.#start + this.length);
    this.length = length;
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
    const [header, length, wildcards, ...rest] = this.#parse(isTrusted);
    if (header === 0) throw mismatchError(length, wildcards, rest);
    this.#header = decoder.decode(memory().subarray(header, header + length));
    this.wildcards = wildcards;
  }

  #parse(isTrusted: boolean): ParseResult {
    // Parsing may grow the memory, so take the view afterwards.
    const { filter_parse } = pathsModule.exports;
    const start = filter_parse(this.#object.pointer, this.length, Number(isTrusted)) >>> 0;
    return [...new Float64Array(memory().buffer, start, 6)] as ParseResult;
  }

  /** The first line. Empty before {@link parse}. */
  get header(): string {
    return this.#header;
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

/** Returns the error for a file that the module rejected. */
function mismatchError(
  text: number,
  length: number,
  [count, found, offset]: Mismatch,
): HedgerowError {
  const expected = decoder.decode(memory().subarray(text, text + length));
  const prefix = count === NONE ? "" : `${count} `;
  return formatError(`expected ${prefix}${expected}, found ${describe(found)} at byte ${offset}`);
}

function describe(found: number): string {
  if (found >= 0) return `${found}`;
  return found === NONE ? "the end" : `0x${(BYTE_BASE - found).toString(16).padStart(2, "0")}`;
}

function formatError(message: string): HedgerowError {
  return new HedgerowError("ERR_FILTER_FORMAT", `path filter: ${message}`);
}
