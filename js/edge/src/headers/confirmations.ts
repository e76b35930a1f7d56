/** Answers kept: enough for the internal names that traffic repeats. A power of two. */
const SIZE = 4096;
/** The longest name kept, in bytes, so that what is kept stays small whatever is sent. */
const LONGEST = 64;

/** Keeps a byte order mark, which is a character of the name like any other. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * What WebAssembly answered for names that the probe admitted, so that a name that comes again is
 * compared with a string instead of being copied.
 *
 * Of fixed size: a name has two places, and a new name takes that of an older one.
 */
export class Confirmations {
  readonly #names: string[] = new Array(SIZE).fill("");
  readonly #matches: boolean[] = new Array(SIZE).fill(false);

  /**
   * Whether `name`, which the probe gave `hash`, matches; `rules` tell if that is not known.
   */
  get(name: string, hash: number, rules: Rules): boolean {
    // With a character that the probe did not read.
    const place = (hash ^ (name.charCodeAt(name.length >> 2) << 5)) & (SIZE - 1);
    if (this.#names[place] === name) return this.#matches[place]!;
    return this.#second(name, place, rules);
  }

  #second(name: string, place: number, rules: Rules): boolean {
    const other = place ^ 1;
    if (this.#names[other] === name) return this.#matches[other]!;
    const bytes = rules.write(name);
    const matches = rules.matches(bytes.length);
    if (bytes.length <= LONGEST) {
      this.#names[other] = this.#names[place]!;
      this.#matches[other] = this.#matches[place]!;
      // Not `name` itself: it may be a part of a longer string, and would keep all of it alive.
      this.#names[place] = decoder.decode(bytes);
      this.#matches[place] = matches;
    }
    return matches;
  }
}

/** What tells whether a name matches. */
export interface Rules {
  /** Writes a name, and returns its bytes. */
  write(name: string): Uint8Array;
  /** Whether a rule matches the name of `length` bytes that was written last. */
  matches(length: number): boolean;
}
