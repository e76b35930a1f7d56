/**
 * Deciding misses on JavaScript strings, without copying them.
 *
 * The table lies in the compiled set's image, in WebAssembly memory; `Probe` in the Rust crate
 * `hedgerow-headers` defines how it is read. A name's length and two of its characters choose one
 * bit; where there are prefix rules, two characters of its beginning choose another. A bit that is
 * not set is a certain miss.
 */
export interface ProbeLayout {
  /** Where the table lies in memory. */
  readonly pointer: number;
  /** Its length in bytes, a power of two. */
  readonly length: number;
  /** The first character, from the start. */
  readonly fromStart: number;
  /** The second character, from the end. */
  readonly fromEnd: number;
  /** The two characters of a prefix, from the start. */
  readonly prefixFirst: number;
  readonly prefixSecond: number;
  /** The length of the shortest prefix rule; 0 where there is none. */
  readonly shortestPrefix: number;
}

/** Sets bit 5 of a character, which turns an upper-case letter into its lower-case one. */
const FOLD = 0x20;
/** 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;

export class Probe {
  readonly #pointer: number;
  readonly #shift: number;
  readonly #fromStart: number;
  readonly #fromEnd: number;
  readonly #prefixFirst: number;
  readonly #prefixSecond: number;
  readonly #shortestPrefix: number;

  constructor(layout: ProbeLayout) {
    this.#pointer = layout.pointer;
    this.#shift = 32 - Math.log2(layout.length * 8);
    this.#fromStart = layout.fromStart;
    this.#fromEnd = layout.fromEnd;
    this.#prefixFirst = layout.prefixFirst;
    this.#prefixSecond = layout.prefixSecond;
    this.#shortestPrefix = layout.shortestPrefix;
  }

  /** Whether a rule may match `name`; `memory` is all of the module's memory. */
  admits(name: string, memory: Uint8Array): boolean {
    const length = name.length;
    if (length === 0) return false;
    const last = length - 1;
    const first = name.charCodeAt(this.#fromStart < last ? this.#fromStart : last);
    const second = name.charCodeAt(this.#fromEnd < last ? last - this.#fromEnd : 0);
    if (this.#isSet((length << 14) ^ ((first | FOLD) << 7) ^ (second | FOLD), memory)) return true;
    return this.#shortestPrefix !== 0 && this.#admitsPrefix(name, memory);
  }

  #admitsPrefix(name: string, memory: Uint8Array): boolean {
    if (name.length < this.#shortestPrefix) return false;
    const first = name.charCodeAt(this.#prefixFirst) | FOLD;
    const second = name.charCodeAt(this.#prefixSecond) | FOLD;
    return this.#isSet((first << 7) ^ second, memory);
  }

  #isSet(key: number, memory: Uint8Array): boolean {
    const bit = Math.imul(key, MULTIPLIER) >>> this.#shift;
    return ((memory[this.#pointer + (bit >>> 3)]! >>> (bit & 7)) & 1) !== 0;
  }
}
