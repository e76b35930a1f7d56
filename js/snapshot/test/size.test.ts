import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the module that reads snapshots is as small as promised", () => {
  const entry = import.meta.resolve("@hedgerow/snapshot");
  const module = readFileSync(new URL("../wasm/decode_bg.wasm", entry));
  expect(module.length).toBeLessThanOrEqual(150_000);
});
