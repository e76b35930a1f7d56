/** Snapshots by the packed package, from `node_modules` and bundled by esbuild. */
import { test } from "vitest";

import { project, TEST_TIMEOUT } from "./support/project.js";
import { expectBundledRoundTrip, expectRoundTrip } from "./support/round-trip.js";

test("creates and restores snapshots from node_modules", { timeout: TEST_TIMEOUT }, () =>
  expectRoundTrip(project("snapshot"), "round-trip.js"),
);

test.for(["esbuild, a module", "esbuild, CommonJS"])(
  "creates and restores snapshots without node_modules when bundled by %s",
  { timeout: TEST_TIMEOUT },
  (bundler) => expectBundledRoundTrip(bundler),
);
