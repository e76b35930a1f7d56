/** Checks that the suite finds faulty packages: each fault is injected into a copy, and a check has to fail. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHECKS, redirected, topLevelAwait, without } from "./support/faults.js";
import { type Fault, TEST_TIMEOUT } from "./support/project.js";

test.for<[name: string, check: keyof typeof CHECKS, fault: Fault, message: RegExp]>([
  [
    "a module that the tarball lacks",
    "publint",
    without(join("wasm", "paths_bg.wasm")),
    /paths_bg\.wasm/,
  ],
  ["a module for Node that it cannot import", "import", redirected("default", "workerd"), /\.wasm/],
  ["an entry with top-level await", "require", topLevelAwait, /ERR_REQUIRE_ASYNC_MODULE/],
  ["an entry with top-level await", "esbuild, CommonJS", topLevelAwait, /[Tt]op-level await/],
])("detects %s by %s", { timeout: TEST_TIMEOUT }, async ([, check, fault, message]) => {
  await expect(CHECKS[check](fault)).rejects.toThrow(message);
});
