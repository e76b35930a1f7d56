/** Number of cached results: enough for the internal names that traffic repeats. A power of two. */
const CAPACITY = 4096;
/** Longest name cached, in bytes, to bound the memory of the cache. */
const MAX_NAME_LENGTH = 64;

/** Keeps a leading byte order mark, which is part of the name. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A cache of the trie's results for names that the probe could not decide, so that a repeated name is
 * compared with a string instead of being copied into WebAssembly.
 *
 * The size is fixed. A name can be in one of two slots, and a new name evicts the older of the two.
 */
export class MatchCache {
  readonly #names: string[] = new Array(CAPACITY).fill("");
  readonly #matches: boolean[] = new Array(CAPACITY).fill(false);

  /** Returns whether `name` matches. `hash` comes from the probe; `matcher` decides names not cached. */
  get(name: string, hash: number, matcher: Matcher): boolean {
    // Includes a character that the probe did not read.
    const slot = (hash ^ (name.charCodeAt(name.length >> 2) << 5)) & (CAPACITY - 1);
    if (this.#names[slot] === name) return this.#matches[slot]!;
    return this.#getSecond(name, slot, matcher);
  }

  #getSecond(name: string, first: number, matcher: Matcher): boolean {
    const second = first ^ 1;
    if (this.#names[second] === name) return this.#matches[second]!;
    const bytes = matcher.write(name);
    const matches = matcher.matches(bytes.length);
    if (bytes.length <= MAX_NAME_LENGTH) {
      this.#names[second] = this.#names[first]!;
      this.#matches[second] = this.#matches[first]!;
      // A copy: `name` may be a slice of a longer string, and would keep all of it alive.
      this.#names[first] = decoder.decode(bytes);
      this.#matches[first] = matches;
    }
    return matches;
  }
}

/** Decides whether a name matches. */
export interface Matcher {
  /** Writes a name for {@link matches}, and returns its bytes. */
  write(name: string): Uint8Array;
  /** Returns whether a rule matches the name of `length` bytes that was written last. */
  matches(length: number): boolean;
}
