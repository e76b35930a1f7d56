import { IdentityTable, wordsOf } from "./identity-table.js";

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
