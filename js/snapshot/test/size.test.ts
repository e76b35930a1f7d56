import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("keeps the module that reads snapshots within its promised size", () => {
  const entry = import.meta.resolve("@hedgerow/snapshot");
  const module = readFileSync(new URL("../wasm/decode_bg.wasm", entry));
  expect(module.length).toBeLessThanOrEqual(138_000);
});
