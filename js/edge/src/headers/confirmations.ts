/** Answers kept: enough for the internal names that traffic repeats. A power of two. */
const SIZE = 2048;
/** The longest name kept, so that what is kept stays small whatever is sent. */
const LONGEST = 64;

/**
 * What WebAssembly answered for names that the probe admitted, so that a name that comes again is
 * compared with a string instead of being copied.
 *
 * Of fixed size: each number that the probe gives has one place for a name that matches and one for a name
 * that does not, and a new name takes the place of an older one.
 */
export class Confirmations {
  readonly #matching: string[] = new Array(SIZE).fill("");
  readonly #other: string[] = new Array(SIZE).fill("");

  /** Whether `name`, to which the probe gave `number`, matches, if that is known. */
  get(name: string, number: number): boolean | undefined {
    const place = number & (SIZE - 1);
    if (this.#matching[place] === name) return true;
    if (this.#other[place] === name) return false;
    return undefined;
  }

  set(name: string, number: number, matches: boolean): void {
    if (name.length > LONGEST) return;
    (matches ? this.#matching : this.#other)[number & (SIZE - 1)] = name;
  }
}
