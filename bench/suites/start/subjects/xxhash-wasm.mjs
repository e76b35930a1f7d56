// A hash in WebAssembly.
import xxhash from "xxhash-wasm";

/** @param {import("../subjects.mjs").Input} input */
export async function use({ path }) {
  const { h64 } = await xxhash();
  return typeof h64(path) === "bigint";
}
