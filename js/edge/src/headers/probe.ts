/**
 * Deciding misses on JavaScript strings, without copying them.
 *
 * The table lies in the compiled set's image, in WebAssembly memory; `Probe` in the Rust crate
 * `hedgerow-headers` defines how it is read. A name's length and two of its characters choose one
 * bit; where there are prefix rules, two characters of its beginning choose another. A bit that is
 * not set is a certain miss.
 */
export interface ProbeLayout {
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

/** What {@link Probe.candidate} returns for a name that no rule matches. */
export const MISS = -1;

/** Sets bit 5 of a character, which turns an upper-case letter into its lower-case one. */
const FOLD = 0x20;
/** 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;

export class Probe {
  readonly #layout: ProbeLayout;
  readonly #shift: number;

  /** @param length the length of the table in bytes, a power of two */
  constructor(length: number, layout: ProbeLayout) {
    this.#layout = layout;
    this.#shift = 32 - Math.log2(length * 8);
  }

  /**
   * {@link MISS}, or, if a rule may match `name`, a number that is the same for the same name and
   * seldom for another.
   */
  candidate(name: string, table: Uint8Array): number {
    const { fromStart, fromEnd, shortestPrefix } = this.#layout;
    const last = name.length - 1;
    if (last < 0) return MISS;
    const first = name.charCodeAt(Math.min(fromStart, last)) | FOLD;
    const second = name.charCodeAt(Math.max(last - fromEnd, 0)) | FOLD;
    const bit = bitOf(((last + 1) << 14) ^ (first << 7) ^ second, this.#shift);
    if (isSet(table, bit)) return bit;
    if (shortestPrefix === 0 || last + 1 < shortestPrefix) return MISS;
    const { prefixFirst, prefixSecond } = this.#layout;
    const key =
      ((name.charCodeAt(prefixFirst) | FOLD) << 7) ^ (name.charCodeAt(prefixSecond) | FOLD);
    return isSet(table, bitOf(key, this.#shift)) ? bit : MISS;
  }
}

function bitOf(key: number, shift: number): number {
  return Math.imul(key, MULTIPLIER) >>> shift;
}

/** Whether a bit is set, as every bit of a table is that has died because memory has grown. */
function isSet(table: Uint8Array, bit: number): boolean {
  const byte = table[bit >>> 3];
  return byte === undefined || ((byte >>> (bit & 7)) & 1) !== 0;
}
