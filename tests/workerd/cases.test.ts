/** The cases, in workerd and through the entry that its bundlers choose. */
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { suites } from "../cases/index.js";
import { bundle } from "./bundle.js";

let miniflare: Miniflare;
let types: string[];

beforeAll(async () => {
  const modules = await bundle(new URL("worker.ts", import.meta.url));
  types = modules.map(({ type }) => type);
  miniflare = new Miniflare({
    host: "127.0.0.1",
    modules,
    modulesRoot: "/",
    compatibilityDate: "2026-04-01",
    cf: false,
  });
  await miniflare.ready;
});

afterAll(() => miniflare?.dispose());

test("a worker's bundle has its WebAssembly as a compiled module", () => {
  expect(types).toEqual(["ESModule", "CompiledWasm"]);
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
