/** Checks that the builds of whole applications, which take long, find faulty packages. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHECKS, redirected, without } from "./support/faults.js";
import { type Fault, TEST_TIMEOUT } from "./support/project.js";

test.for<[name: string, check: keyof typeof CHECKS, fault: Fault, message: RegExp]>([
  [
    "a module that the tarball lacks",
    "Wrangler",
    without(join("wasm", "paths_bg.wasm")),
    /paths_bg\.wasm/,
  ],
  [
    "bytes for workerd, which compiles no WebAssembly",
    "Wrangler",
    redirected("workerd", "default"),
    /CompiledWasm/,
  ],
  [
    "the module for workerd at the edge of Vercel",
    "Next.js",
    redirected("edge-light", "workerd"),
    /paths_bg\.wasm/,
  ],
])("detects %s by %s", { timeout: TEST_TIMEOUT }, async ([, check, fault, message]) => {
  await expect(CHECKS[check](fault)).rejects.toThrow(message);
});
