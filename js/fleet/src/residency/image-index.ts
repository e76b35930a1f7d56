/** Which hosts have which images, in little memory. */
import { randomInt } from "node:crypto";

/** The row has several owners. */
const MANY = -1;

const NOBODY: ReadonlySet<string> = new Set();

/** A host and the rows of its images. */
interface Owner {
  readonly id: string;
  readonly rows: Set<number>;
}

/** The images of all hosts: identity to hosts. Most images of a large fleet are on one host, which costs no `Set`. */
export class ImageIndex {
  readonly #table = new IdentityTable();
  /** By number; numbers are used again. */
  readonly #owners: (Owner | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #freeNumbers: number[] = [];
  /** The number of the only owner of each row, or `MANY`. */
  #single = new Int32Array(1 << 12);
  readonly #many = new Map<number, Set<string>>();
  #size = 0;

  /** @param max the maximum of `size` */
  constructor(private readonly max: number) {}

  /** The number of pairs of an image and a host. */
  get size(): number {
    return this.#size;
  }

  /** The number of images of a host. */
  count(host: string): number {
    return this.#owners[this.#numbers.get(host) ?? -1]?.rows.size ?? 0;
  }

  /** The hosts of an image. The set may change with the index. */
  hostsOf(identity: string): ReadonlySet<string> {
    const words = identity.length === 64 ? wordsOf(identity) : undefined;
    const row = words === undefined ? -1 : this.#table.find(words, 0);
    if (row === -1) return NOBODY;
    const number = this.#single[row]!;
    return number === MANY ? this.#many.get(row)! : new Set([this.#owners[number]!.id]);
  }

  /** Replaces the images of a host. Returns whether there was space for all. */
  replace(host: string, identities: Uint32Array): boolean {
    this.delete(host);
    return this.add(host, identities);
  }

  /** Adds images of a host, each of eight words. Returns whether there was space for all. */
  add(host: string, identities: Uint32Array): boolean {
    const number = this.#numberOf(host);
    const { rows } = this.#owners[number]!;
    for (let offset = 0; offset < identities.length; offset += 8) {
      const found = this.#table.find(identities, offset);
      if (rows.has(found)) continue;
      if (this.#size === this.max) return false;
      const row = found === -1 ? this.#table.add(identities, offset) : found;
      this.#addOwner(row, found === -1, number);
      rows.add(row);
      this.#size += 1;
    }
    return true;
  }

  /** Removes images of a host. */
  remove(host: string, identities: Uint32Array): void {
    const number = this.#numbers.get(host);
    if (number === undefined) return;
    const { rows } = this.#owners[number]!;
    for (let offset = 0; offset < identities.length; offset += 8) {
      const row = this.#table.find(identities, offset);
      if (rows.delete(row)) this.#removeOwner(row, number);
    }
  }

  /** Removes a host with its images. */
  delete(host: string): void {
    const number = this.#numbers.get(host);
    if (number === undefined) return;
    for (const row of this.#owners[number]!.rows) this.#removeOwner(row, number);
    this.#owners[number] = undefined;
    this.#numbers.delete(host);
    this.#freeNumbers.push(number);
  }

  #numberOf(host: string): number {
    const known = this.#numbers.get(host);
    if (known !== undefined) return known;
    const number = this.#freeNumbers.pop() ?? this.#owners.length;
    this.#owners[number] = { id: host, rows: new Set() };
    this.#numbers.set(host, number);
    return number;
  }

  #addOwner(row: number, isNew: boolean, number: number): void {
    if (isNew) {
      if (row >= this.#single.length) {
        const longer = new Int32Array(2 * this.#single.length);
        longer.set(this.#single);
        this.#single = longer;
      }
      this.#single[row] = number;
      return;
    }
    const { id } = this.#owners[number]!;
    const before = this.#single[row]!;
    if (before === MANY) {
      this.#many.get(row)!.add(id);
      return;
    }
    this.#many.set(row, new Set([this.#owners[before]!.id, id]));
    this.#single[row] = MANY;
  }

  #removeOwner(row: number, number: number): void {
    this.#size -= 1;
    if (this.#single[row] === number) {
      this.#table.delete(row);
      return;
    }
    const owners = this.#many.get(row)!;
    owners.delete(this.#owners[number]!.id);
    if (owners.size > 1) return;
    const [last] = owners;
    this.#single[row] = this.#numbers.get(last!)!;
    this.#many.delete(row);
  }
}

/** The number of 32-bit words in an identity. */
const WORDS = 8;

/** The number of identities in a page, as a power of two. */
const PAGE_BITS = 12;

/** What follows the last row. */
const NONE = -1;

/**
 * Numbers for identities: a hash table of binary digests in typed arrays. A million take 44 MiB, where a `Map` of texts
 * takes three times as much, and they cost the garbage collector nothing.
 */
class IdentityTable {
  /** Random, so that nobody can choose identities that collide. */
  readonly #seed = randomInt(2 ** 32);
  /** The identities, by row. */
  readonly #pages: Uint32Array[] = [];
  /** The first row of each bucket; then, for each row, the next one of its bucket. */
  #heads = new Int32Array(1 << PAGE_BITS).fill(NONE);
  #next = new Int32Array(1 << PAGE_BITS);
  /** Rows that were deleted. */
  readonly #free: number[] = [];
  /** The number of rows, with those deleted. */
  #rows = 0;

  /** Returns the row of an identity at an offset of `words`, or -1. */
  find(words: Uint32Array, offset: number): number {
    let row = this.#heads[this.#bucketOf(words, offset)]!;
    while (row !== NONE && !this.#equals(row, words, offset)) row = this.#next[row]!;
    return row;
  }

  /** Adds an identity that is not there. Returns its row. */
  add(words: Uint32Array, offset: number): number {
    if (this.#free.length === 0 && this.#rows === this.#next.length) this.#grow();
    const row = this.#free.pop() ?? this.#rows++;
    const page = this.#pages[row >> PAGE_BITS] ?? new Uint32Array(WORDS << PAGE_BITS);
    this.#pages[row >> PAGE_BITS] = page;
    page.set(words.subarray(offset, offset + WORDS), startOf(row));
    this.#link(row);
    return row;
  }

  /** Deletes a row. */
  delete(row: number): void {
    const bucket = this.#bucketOf(this.#pages[row >> PAGE_BITS]!, startOf(row));
    let before = NONE;
    for (let at = this.#heads[bucket]!; at !== row; at = this.#next[at]!) before = at;
    if (before === NONE) this.#heads[bucket] = this.#next[row]!;
    else this.#next[before] = this.#next[row]!;
    this.#free.push(row);
  }

  #link(row: number): void {
    const bucket = this.#bucketOf(this.#pages[row >> PAGE_BITS]!, startOf(row));
    this.#next[row] = this.#heads[bucket]!;
    this.#heads[bucket] = row;
  }

  /** Doubles the table, of which all rows are in use. */
  #grow(): void {
    const length = 2 * this.#next.length;
    this.#heads = new Int32Array(length).fill(NONE);
    this.#next = new Int32Array(length);
    for (let row = 0; row < this.#rows; row += 1) this.#link(row);
  }

  #equals(row: number, words: Uint32Array, offset: number): boolean {
    const page = this.#pages[row >> PAGE_BITS]!;
    const start = startOf(row);
    for (let word = 0; word < WORDS; word += 1) {
      if (page[start + word] !== words[offset + word]) return false;
    }
    return true;
  }

  #bucketOf(words: Uint32Array, offset: number): number {
    let hash = this.#seed;
    for (let word = 0; word < WORDS; word += 1) {
      hash = Math.imul(hash ^ words[offset + word]!, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash & (this.#heads.length - 1);
  }
}

function startOf(row: number): number {
  return (row & ((1 << PAGE_BITS) - 1)) * WORDS;
}

/** Returns identities of 64 hexadecimal digits each as words, or `undefined` if the text is anything else. */
export function wordsOf(identities: string): Uint32Array | undefined {
  const bytes = new Uint8Array(identities.length >> 1);
  const length = Buffer.from(bytes.buffer).write(identities, "hex");
  if (2 * length !== identities.length || length % 32 !== 0) return undefined;
  return new Uint32Array(bytes.buffer);
}
