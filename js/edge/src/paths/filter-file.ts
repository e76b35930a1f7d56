import { Filter } from "../../wasm/edge.js";
import { HedgerowError } from "../error.js";
import { memory } from "../module.js";
import { KeyWriter } from "./key-writer.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const LINE_FEED = 10;
/** What `Filter.parse` has in place of a number that there is not. */
const NONE = -1;
/** What `Filter.parse` subtracts a byte from, to tell it from a number. */
const BYTE = -2;
/** The memory that a file of unknown length begins with, in bytes. */
const FIRST_CAPACITY = 2 ** 16;

/** The file of a path filter in the memory of the module, and the filter that is read from it there. */
export class FilterFile {
  readonly #filter = new Filter();
  readonly #keys = new KeyWriter(this.#filter);
  #isFreed = false;
  #start = 0;
  #capacity = 0;
  /** How long the file may be, once its first line is there. */
  #longest = Number.POSITIVE_INFINITY;
  #header = "";
  /** How many bytes of the file are there. */
  length = 0;
  /** The depth of the deepest wildcard key; 0 if there are none. */
  wildcards = 0;

  /** Makes room for a file of `length` bytes, and returns where what is not there yet belongs. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    if (length > this.#capacity) {
      this.#start = this.#filter.reserve(length);
      if (this.#start === 0) {
        throw refused(`expected a file that there is memory for, found ${length} bytes`);
      }
      this.#capacity = length;
    }
    return memory().subarray(this.#start + this.length, this.#start + this.#capacity);
  }

  /** Takes the next bytes of a file of unknown length. */
  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#capacity) {
      const doubled = Math.max(2 * this.#capacity, FIRST_CAPACITY);
      this.reserve(Math.max(length, Math.min(doubled, this.#longest)));
    }
    memory().set(bytes, this.#start + this.length);
    this.length = length;
    if (this.#longest === Number.POSITIVE_INFINITY) this.#longest = this.#readLongest();
    // A file that is already refused is not read to its end.
    if (length > this.#longest) this.parse(true);
  }

  /** How long the file may be at most, as far as its first line tells; 0 if it cannot be one. */
  #readLongest(): number {
    const bytes = memory().subarray(this.#start, this.#start + this.length);
    const line = bytes.indexOf(LINE_FEED);
    // The line has a longest length too, which the module knows: let it look once in a while.
    if (line < 0) return this.length > FIRST_CAPACITY ? 0 : Number.POSITIVE_INFINITY;
    try {
      const { m } = JSON.parse(decoder.decode(bytes.subarray(0, line))).bloom;
      // Two line feeds, a carriage return, and quotes are around the characters.
      return Number.isInteger(m) ? line + 5 + Math.ceil(m / 24) * 4 : 0;
    } catch {
      return 0;
    }
  }

  /**
   * Reads the filter from what is there.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT`
   */
  parse(isTrusted: boolean): void {
    // The call may make the memory grow: only then ask for it.
    const start = this.#filter.parse(this.length, isTrusted);
    const numbers = new Float64Array(memory().buffer, start, 6);
    const [header, ...rest] = numbers as unknown as [number, number, number, ...number[]];
    if (header === 0) throw refusal(rest);
    this.#header = decoder.decode(memory().subarray(header, header + rest[0]));
    this.wildcards = rest[1];
  }

  /** The first line. */
  get header(): string {
    return this.#header;
  }

  /** Whether the filter has a path. */
  has(path: string): boolean {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "expected a PathFilter, found one after free()");
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
function refusal([text, length, count, found, offset]: number[]): HedgerowError {
  const expected = decoder.decode(memory().subarray(text, text! + length!));
  const many = count === NONE ? "" : `${count} `;
  return refused(`expected ${many}${expected}, found ${shown(found!)} at byte ${offset}`);
}

function shown(found: number): string {
  if (found >= 0) return `${found}`;
  return found === NONE ? "the end" : `0x${(BYTE - found).toString(16).padStart(2, "0")}`;
}

function refused(message: string): HedgerowError {
  return new HedgerowError("ERR_FILTER_FORMAT", `path filter: ${message}`);
}
