import { Filter } from "../../wasm/edge.js";
import { HedgerowError } from "../error.js";
import { make, memory } from "../module.js";
import { KeyWriter } from "./key-writer.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const LINE_FEED = 10;
/** What `Filter.parse` has in place of a number that there is not. */
const NONE = -1;
/** What `Filter.parse` subtracts a byte from, to tell it from a number. */
const BYTE = -2;
/** How many were expected, what was found, and where. */
type Refusal = [count: number, found: number, offset: number];
/** What `Filter.parse` says: of a filter the first three, of a refusal all but the first. */
type Numbers = [start: number, lengthOrText: number, wildcardsOrLength: number, ...Refusal];

/** The longest first line, in bytes, with a line end of two. */
const MAX_HEADER_LENGTH = 2 ** 16 + 2;
/** How much memory is taken at once for a file whose first line allows as much, in bytes. */
const FIRST_CAPACITY = 2 ** 20;

/** The file of a path filter in the memory of the module, and the filter that is read from it there. */
export class FilterFile {
  readonly #filter = make(Filter);
  readonly #keys = new KeyWriter(this.#filter);
  readonly #expected: number;
  #isFreed = false;
  #start = 0;
  #capacity = 0;
  /** Where the first line ends, once its end is there. */
  #line = -1;
  /** How long the file may be, once its first line is there; 0 before. */
  #longest = 0;
  #header = "";
  /** How many bytes of the file are there. */
  length = 0;
  /** The depth of the deepest wildcard key; 0 if there are none. */
  wildcards = 0;

  /**
   * @param expected how long the file is said to be, in bytes. Memory for it is taken at once, but no more
   * than its first line allows
   */
  constructor(expected = 0) {
    this.#expected = expected;
  }

  /**
   * Takes the next bytes of a file.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT` as soon as it is certain that the file is refused
   */
  append(bytes: Uint8Array): void {
    const rest = this.#longest > 0 ? bytes : bytes.subarray(this.#appendHeader(bytes));
    if (rest.length === 0) return;
    // One byte beyond what the file may have tells that it is too long.
    this.#write(rest.subarray(0, this.#longest + 1 - this.length));
    if (this.length > this.#longest) this.parse(true);
  }

  /** Takes bytes up to the quote behind the first line; returns how many. */
  #appendHeader(bytes: Uint8Array): number {
    if (this.#line < 0) {
      const at = bytes.subarray(0, MAX_HEADER_LENGTH - this.length).indexOf(LINE_FEED);
      if (at >= 0) this.#line = this.length + at;
      else if (this.length + bytes.length >= MAX_HEADER_LENGTH) {
        throw refused("expected a first line of at most 65536 bytes, found more");
      }
    }
    const end = this.#line < 0 ? bytes.length : this.#line + 2 - this.length;
    this.#write(bytes.subarray(0, end));
    if (this.#line >= 0 && this.length === this.#line + 2) this.#longest = this.#judge();
    return end;
  }

  /** Has the module look at the first line alone, and returns how long the file may be. */
  #judge(): number {
    const [, , , count, , offset] = this.#parse(true);
    // With nothing behind the quote, all that can be right is that characters are missing.
    if (count === NONE) this.parse(true);
    this.#capacity = this.length;
    // The last group is padded, and a quote and a line end of two may follow.
    return offset + Math.ceil(count / 4) * 4 + 3;
  }

  #write(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#capacity) {
      const ahead = Math.max(2 * this.#capacity, FIRST_CAPACITY, this.#expected);
      this.#reserve(Math.max(length, Math.min(ahead, this.#longest)));
    }
    memory().set(bytes, this.#start + this.length);
    this.length = length;
  }

  #reserve(capacity: number): void {
    this.#start = this.#filter.reserve(capacity);
    if (this.#start === 0) {
      throw refused(`not enough memory for ${capacity} bytes`);
    }
    this.#capacity = capacity;
  }

  /**
   * Reads the filter from what is there.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT`
   */
  parse(isTrusted: boolean): void {
    const [header, length, wildcards, ...rest] = this.#parse(isTrusted);
    if (header === 0) throw refusal(length, wildcards, rest);
    this.#header = decoder.decode(memory().subarray(header, header + length));
    this.wildcards = wildcards;
  }

  #parse(isTrusted: boolean): Numbers {
    // The call may make the memory grow: only then ask for it.
    const start = this.#filter.parse(this.length, isTrusted);
    return [...new Float64Array(memory().buffer, start, 6)] as Numbers;
  }

  /** The first line. */
  get header(): string {
    return this.#header;
  }

  /** Whether the filter has a path. */
  has(path: string): boolean {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "PathFilter was used after free()");
    }
    const length = this.#keys.write(path);
    const isPresent = this.#filter.has(length);
    this.#keys.release(length);
    return isPresent;
  }

  /** Gives the module's memory back. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#filter.free();
  }
}

/** Why the module refused the file, from the numbers that it gave. */
function refusal(text: number, length: number, [count, found, offset]: Refusal): HedgerowError {
  const expected = decoder.decode(memory().subarray(text, text + length));
  const many = count === NONE ? "" : `${count} `;
  return refused(`expected ${many}${expected}, found ${shown(found)} at byte ${offset}`);
}

function shown(found: number): string {
  if (found >= 0) return `${found}`;
  return found === NONE ? "the end" : `0x${(BYTE - found).toString(16).padStart(2, "0")}`;
}

function refused(message: string): HedgerowError {
  return new HedgerowError("ERR_FILTER_FORMAT", `path filter: ${message}`);
}
