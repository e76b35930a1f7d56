/** Snapshots by the packed package, bundled by webpack, which takes long. */
import { test } from "vitest";

import { TEST_TIMEOUT } from "./support/project.js";
import { expectBundledRoundTrip } from "./support/round-trip.js";

test(
  "creates and restores snapshots without node_modules when bundled by webpack",
  { timeout: TEST_TIMEOUT },
  () => expectBundledRoundTrip("webpack"),
);
