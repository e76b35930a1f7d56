/** Which bits of a filter a query reads, computed from its file as docs/path-filter.md specifies. */
import type { PathFilterParams } from "hedgerow";
import xxhash from "xxhash-wasm";

/** A bit, or a slot of a fuse filter, that a query reads. */
export interface Probe {
  readonly index: number;
  /** Whether the bit is 1. Each slot of a fuse filter is used. */
  readonly isSet: boolean;
  /** The bit, or the slot in hexadecimal digits. */
  readonly value: string;
}

const hashing = xxhash();

const MASK_32 = 0xffff_ffffn;
const MASK_64 = 0xffff_ffff_ffff_ffffn;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIXES = new Map([...ALPHABET].map((character, index) => [character, index]));

/** The body of a filter, read in place. */
export class FilterBody {
  readonly #text: string;

  constructor(file: Uint8Array) {
    this.#text = new TextDecoder().decode(file).split("\n")[1] ?? "";
  }

  /** Returns whether a bit of a Bloom filter is 1. */
  bit(index: number): boolean {
    return ((this.#six(Math.floor(index / 6)) >> (5 - (index % 6))) & 1) === 1;
  }

  /** Returns a slot of a fuse filter, of 24 bits. */
  slot(index: number): number {
    let value = 0;
    for (let at = 0; at < 4; at += 1) value = value * 64 + this.#six(4 * index + at);
    return value;
  }

  /** Returns the six bits of a character, after the quotation mark. */
  #six(index: number): number {
    return SIXES.get(this.#text[index + 1] ?? "") ?? 0;
  }
}

/** Returns what a query for a key reads, in order. It stops at the first bit that is 0. */
export async function probesOf(
  body: FilterBody,
  params: PathFilterParams,
  key: string,
): Promise<Probe[]> {
  const { h64 } = await hashing;
  const { bloom, fuse } = params;
  if (bloom !== undefined) {
    const [first, second] = [h64(key, BigInt(bloom.s)), h64(key, BigInt(bloom.s) + 1n)];
    const probes: Probe[] = [];
    for (let i = 0n; i < bloom.k && probes.at(-1)?.isSet !== false; i += 1n) {
      const index = Number(((first + i * second) & MASK_64) % BigInt(bloom.m));
      const isSet = body.bit(index);
      probes.push({ index, isSet, value: isSet ? "1" : "0" });
    }
    return probes;
  }
  const hash = h64(key, BigInt(fuse.s));
  const [length, slots] = [BigInt(fuse.l), BigInt(fuse.m)];
  const x = (hash * BigInt(fuse.q)) & MASK_64;
  const [high, low] = [x >> 32n, x & MASK_32];
  const first = high * (slots / length - 2n);
  const segment = first >> 32n;
  return [first & MASK_32, low, (low * length) & MASK_32].map((place, number) => {
    const index = Number((segment + BigInt(number)) * length + ((place * length) >> 32n));
    return { index, isSet: true, value: body.slot(index).toString(16).padStart(6, "0") };
  });
}
