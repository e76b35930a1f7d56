/** Faults at one of the files of a delta, from which a restore recovers as from those of a snapshot. */
import { expect, test } from "vitest";

import { recoverable, silent } from "../support/fault-tables.js";
import { restoreDelta, serveDelta, withFiles } from "../support/faulty-delta.js";
import { SOON } from "../support/remote.js";

test.each([
  ...withFiles(recoverable).map((one) => ({ ...one, timeouts: {} })),
  ...withFiles(silent).map((one) => ({ ...one, timeouts: SOON })),
])("restores a delta despite $name at $file", async ({ fault, file, timeouts }) => {
  const origin = await serveDelta(file, fault());
  expect(await restoreDelta(origin, file, { timeouts })).toBe(undefined);
  expect(origin.requestCount).toBeLessThan(120);
});
