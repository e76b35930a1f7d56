/** Files that one at a time has. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";

import { claimPrivate } from "../src/local/claim.js";

const folder = mkdtempSync(join(tmpdir(), "hedgerow-claim-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** KeyedLock a file after so many turns of the event loop. */
async function claimAfter(turns: number, path: string) {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  return claimPrivate("image", path);
}

test.each([0, 1, 2, 3, 4, 5])("of two that come %i turns apart, one has it", async (turns) => {
  for (let round = 0; round < 50; round += 1) {
    const path = join(folder, `${turns}-${round}`);
    const claims = await Promise.all([claimAfter(0, path), claimAfter(turns, path)]);
    const claimed = claims.filter((claim) => claim !== undefined);
    expect(claimed.length).toBe(1);

    // Who comes when it was let go of has it again.
    await claimed[0]?.close();
    const next = await claimPrivate("image", path);
    expect(next).toBeDefined();
    await next?.close();
  }
});
