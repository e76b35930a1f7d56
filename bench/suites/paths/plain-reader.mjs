// A straightforward reader of path filters in JavaScript, with XXH64 of a package.
import xxhash from "xxhash-wasm";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BITS = Uint8Array.from({ length: 256 }, (_, byte) =>
  Math.max(ALPHABET.indexOf(String.fromCharCode(byte)), 0),
);

const { h64 } = await xxhash();

export class PlainReader {
  /** @param {string} file */
  constructor(file) {
    const [header = "", body = ""] = file.split("\n");
    const { m, k, s } = JSON.parse(header).bloom;
    this.m = BigInt(m);
    this.k = k;
    this.seed = BigInt(s);
    this.body = body.slice(1, -1);
  }

  /** @param {string} path */
  has(path) {
    const step = h64(path, this.seed + 1n);
    let hash = h64(path, this.seed);
    for (let index = 0; index < this.k; index += 1) {
      const bit = Number(BigInt.asUintN(64, hash) % this.m);
      const character = BITS[this.body.charCodeAt(Math.floor(bit / 6))] ?? 0;
      if (((character >> (5 - (bit % 6))) & 1) === 0) return false;
      hash += step;
    }
    return true;
  }
}
