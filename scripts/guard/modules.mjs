// How large the WebAssembly modules are. What bundles become is held by tests/packaging.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { inRoot } from "../lib/paths.mjs";

const MODULES = {
  "edge.wasm": "js/edge/wasm/edge_bg.wasm",
  "build.wasm": "js/edge/wasm/build_bg.wasm",
  "decode.wasm": "js/snapshot/wasm/decode_bg.wasm",
  "encode.wasm": "js/snapshot/wasm/encode_bg.wasm",
};

/** All sizes, as they are and compressed. @returns {Record<string, number>} */
export function moduleSizes() {
  return Object.fromEntries(
    Object.entries(MODULES).flatMap(([name, file]) => {
      const bytes = readFileSync(inRoot(file));
      const compressed = gzipSync(bytes, { level: 9 }).length;
      return [
        [`${name}, bytes`, bytes.length],
        [`${name}, bytes compressed`, compressed],
      ];
    }),
  );
}
