/** Result of {@link Probe.candidate} for a name that no rule matches. */
export const MISS = -1;

/** Bit 5, which distinguishes an ASCII letter's lower case from its upper case. */
const FOLD = 0x20;
/** 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;
/** Bits kept of a hash: more than the index of the largest table, of 2^22 bits, needs. */
const HASH_BITS = 24;

/**
 * A filter that decides on JavaScript strings, without copying them, that no rule matches a name.
 *
 * Its table lies in WebAssembly memory, in the image of the compiled set; `Probe` in the Rust crate
 * `hedgerow-headers` defines how to read it. A name's length and two of its characters select one bit. If
 * there are prefix rules, two characters near its start select another. If neither bit is set, no rule
 * matches.
 */
export class Probe {
  readonly #shift: number;
  readonly #shortestPrefix: number;

  /**
   * @param length length of the table in bytes, a power of two
   * @param shortestPrefix length of the shortest prefix rule; 0 if there is none
   */
  constructor(length: number, shortestPrefix: number) {
    this.#shift = HASH_BITS - (31 - Math.clz32(length * 8));
    this.#shortestPrefix = shortestPrefix;
  }

  /**
   * Returns {@link MISS} if no rule matches `name`. Otherwise a rule may match, and this returns a hash of
   * the name with {@link HASH_BITS} bits.
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

/** Combines two of the first `length` characters of a name: in the middle, and at seven eighths. */
function charactersOf(name: string, length: number): number {
  const middle = name.charCodeAt(length >> 1) | FOLD;
  const late = name.charCodeAt((length * 7) >> 3) | FOLD;
  return (middle << 7) ^ late;
}

function hashOf(key: number): number {
  return Math.imul(key, MULTIPLIER) >>> (32 - HASH_BITS);
}

/** Returns whether a bit is set. Reports every bit of a detached table as set, so that no match is missed. */
function isSet(table: Uint8Array, bit: number): boolean {
  const byte = table[bit >>> 3];
  return byte === undefined || ((byte >>> (bit & 7)) & 1) !== 0;
}
