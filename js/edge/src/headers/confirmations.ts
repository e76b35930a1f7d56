/** Answers kept: enough for the internal names that traffic repeats. A power of two. */
const SIZE = 256;
/** The longest name kept, so that what is kept stays small whatever is sent. */
const LONGEST = 64;

/**
 * What WebAssembly answered for names that the probe admitted, so that a name that comes again is
 * compared with a string instead of being copied. Of fixed size: a new name takes the place of an
 * older one.
 */
export class Confirmations {
  readonly #matching: string[] = new Array(SIZE).fill("");
  readonly #other: string[] = new Array(SIZE).fill("");

  get(name: string): boolean | undefined {
    const place = placeOf(name);
    if (this.#matching[place] === name) return true;
    if (this.#other[place] === name) return false;
    return undefined;
  }

  set(name: string, matches: boolean): void {
    if (name.length > LONGEST) return;
    (matches ? this.#matching : this.#other)[placeOf(name)] = name;
  }
}

/** A place for `name`, by its length and three of its characters. */
function placeOf(name: string): number {
  const last = name.length - 1;
  const end = name.charCodeAt(last) + 31 * name.charCodeAt(last >> 1);
  return (end + 7 * name.charCodeAt(last - (last >> 2)) + 3 * last) & (SIZE - 1);
}
