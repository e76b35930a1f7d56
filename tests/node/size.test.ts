import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

/** Maximum sizes of the modules, raw and compressed. */
const PROMISED = { paths: [6750, 3650], block: [15_500, 7650] };

test.for(Object.entries(PROMISED))(
  "%s.wasm stays within its promised size, raw and compressed",
  ([name, promised]) => {
    const module = readFileSync(fileURLToPath(import.meta.resolve(`hedgerow/${name}.wasm`)));
    const sizes = [module.length, gzipSync(module, { level: 9 }).length];
    expect(sizes.map((size, index) => size <= promised[index]!)).toEqual([true, true]);
  },
);
