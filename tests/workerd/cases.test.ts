/** The cases, in workerd and through the entry that its bundlers choose. */
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle, startWorker } from "../../scripts/lib/worker.mjs";
import { suites } from "../cases/index.js";

const ENTRY = "tests/workerd/worker.ts";

let miniflare: Miniflare;

beforeAll(async () => {
  ({ worker: miniflare } = await startWorker(ENTRY));
});

afterAll(() => miniflare?.dispose());

test("a worker's bundle has its WebAssembly as compiled modules", async () => {
  const types = (await bundle(ENTRY)).map(({ type }) => type);
  expect(types).toEqual(["ESModule", "CompiledWasm", "CompiledWasm"]);
});

for (const [subject, cases] of Object.entries(suites)) {
  describe(subject, () => {
    test.for(Object.keys(cases))("%s", async (promise) => {
      const query = new URLSearchParams({ subject, promise });
      const response = await miniflare.dispatchFetch(`http://localhost/?${query}`);
      expect(await response.text()).toBe("kept");
    });
  });
}
