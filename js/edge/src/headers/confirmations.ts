/** Answers kept: enough for the internal names that traffic repeats. A power of two. */
const SIZE = 2048;
/** The longest name kept, in bytes, so that what is kept stays small whatever is sent. */
const LONGEST = 64;

const decoder = new TextDecoder();

/**
 * What WebAssembly answered for names that the probe admitted, so that a name that comes again is
 * compared with a string instead of being copied.
 *
 * Of fixed size: each place has room for a name that matches and for one that does not, and a new
 * name takes that of an older one.
 */
export class Confirmations {
  readonly #matching: string[] = new Array(SIZE).fill("");
  readonly #other: string[] = new Array(SIZE).fill("");

  /** Whether `name`, for which the probe gave `number`, matches, if that is known. */
  get(name: string, number: number): boolean | undefined {
    const place = placeOf(name, number);
    if (this.#matching[place] === name) return true;
    if (this.#other[place] === name) return false;
    return undefined;
  }

  /**
   * Keeps an answer, for the name that `bytes` spell. The string that is kept is made of them: the
   * one that was asked for may be a part of another, and would keep all of that one alive.
   */
  set(bytes: Uint8Array, number: number, matches: boolean): void {
    if (bytes.length > LONGEST) return;
    const name = decoder.decode(bytes);
    (matches ? this.#matching : this.#other)[placeOf(name, number)] = name;
  }
}

/** Two characters that the probe does not read tell apart names for which it gave one number. */
function placeOf(name: string, number: number): number {
  const middle = name.charCodeAt(name.length >> 1);
  const third = name.charCodeAt((name.length * 3) >> 2);
  return (number ^ (middle << 3) ^ (third << 6)) & (SIZE - 1);
}
