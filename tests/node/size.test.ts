import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

test("edge.wasm stays within its promised size, raw and compressed", () => {
  const module = readFileSync(fileURLToPath(import.meta.resolve("hedgerow/edge.wasm")));
  expect(module.length).toBeLessThanOrEqual(32_000);
  expect(gzipSync(module, { level: 9 }).length).toBeLessThanOrEqual(14_250);
});
