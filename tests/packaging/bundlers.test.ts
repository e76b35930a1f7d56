/** The packed package, bundled by esbuild. `bundlers.verify.test.ts` has the slower bundlers. */
import { test } from "vitest";

import {
  expectBundledPage,
  expectBundledServer,
  expectUnusedCodeLeftOut,
} from "./support/bundlers.js";
import { TEST_TIMEOUT } from "./support/project.js";

test.for(["esbuild, a module", "esbuild, CommonJS"])(
  "works when bundled for Node by %s",
  { timeout: TEST_TIMEOUT },
  (bundler) => expectBundledServer(bundler),
);

test("works when bundled for browsers by esbuild", { timeout: TEST_TIMEOUT }, () =>
  expectBundledPage("esbuild"),
);

test("leaves out unused code when bundled by esbuild", { timeout: TEST_TIMEOUT }, () =>
  expectUnusedCodeLeftOut("esbuild"),
);
