/** What {@link Probe.candidate} returns for a name that no rule matches. */
export const MISS = -1;

/** Sets bit 5 of a character, which turns an upper-case letter into its lower-case one. */
const FOLD = 0x20;
/** 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;
/** How many bits of a hash are kept: more than the largest table has, of 2^22 bits. */
const HASH_BITS = 24;

/**
 * Deciding misses on JavaScript strings, without copying them.
 *
 * The table lies in the compiled set's image, in WebAssembly memory; `Probe` in the Rust crate
 * `hedgerow-headers` defines how it is read. A name's length and two of its characters choose one
 * bit; where there are prefix rules, two characters of its beginning choose another. A bit that is
 * not set is a certain miss.
 */
export class Probe {
  readonly #shift: number;
  readonly #shortestPrefix: number;

  /**
   * @param length the length of the table in bytes, a power of two
   * @param shortestPrefix the length of the shortest prefix rule; 0 where there is none
   */
  constructor(length: number, shortestPrefix: number) {
    this.#shift = HASH_BITS - (31 - Math.clz32(length * 8));
    this.#shortestPrefix = shortestPrefix;
  }

  /**
   * {@link MISS}, or, if a rule may match `name`, a hash of it: one of {@link HASH_BITS} bits that
   * depends on its length and two characters.
   */
  candidate(name: string, table: Uint8Array): number {
    const { length } = name;
    if (length === 0) return MISS;
    const hash = hashOf((length << 14) ^ charactersOf(name, length));
    if (isSet(table, hash >>> this.#shift)) return hash;
    const shortest = this.#shortestPrefix;
    if (shortest === 0 || length < shortest) return MISS;
    const prefix = hashOf(charactersOf(name, shortest));
    return isSet(table, prefix >>> this.#shift) ? hash : MISS;
  }
}

/** Two characters of the first `length` of a name: in the middle, and at seven eighths. */
function charactersOf(name: string, length: number): number {
  const middle = name.charCodeAt(length >> 1) | FOLD;
  const late = name.charCodeAt((length * 7) >> 3) | FOLD;
  return (middle << 7) ^ late;
}

function hashOf(key: number): number {
  return Math.imul(key, MULTIPLIER) >>> (32 - HASH_BITS);
}

/** Whether a bit is set, as every bit of a table is that has died because memory has grown. */
function isSet(table: Uint8Array, bit: number): boolean {
  const byte = table[bit >>> 3];
  return byte === undefined || ((byte >>> (bit & 7)) & 1) !== 0;
}
