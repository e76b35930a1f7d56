// A straightforward reader of path filters in JavaScript, with a general XXH64.
import xxhashjs from "xxhashjs";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BITS = Uint8Array.from({ length: 256 }, (_, byte) =>
  Math.max(ALPHABET.indexOf(String.fromCharCode(byte)), 0),
);

export class PlainReader {
  /** @param {string} file */
  constructor(file) {
    const [header = "", body = ""] = file.split("\n");
    const { m, k, s } = JSON.parse(header).bloom;
    this.m = BigInt(m);
    this.k = k;
    this.s = s;
    this.body = body.slice(1, -1);
  }

  /** @param {string} path */
  has(path) {
    const h1 = BigInt(`0x${xxhashjs.h64(path, this.s).toString(16)}`);
    const h2 = BigInt(`0x${xxhashjs.h64(path, this.s + 1).toString(16)}`);
    for (let index = 0; index < this.k; index += 1) {
      const bit = Number(BigInt.asUintN(64, h1 + BigInt(index) * h2) % this.m);
      const character = BITS[this.body.charCodeAt(Math.floor(bit / 6))] ?? 0;
      if (((character >> (5 - (bit % 6))) & 1) === 0) return false;
    }
    return true;
  }
}
