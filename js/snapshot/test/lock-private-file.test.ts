/** Locks on private files. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";

import { lockPrivateFile } from "../src/local/lock-private-file.js";

const folder = mkdtempSync(join(tmpdir(), "hedgerow-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Locks a file after a number of turns of the event loop. */
async function lockAfter(turns: number, path: string) {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  return lockPrivateFile("image", path);
}

test.each([0, 1, 2, 3, 4, 5])(
  "gives a lock to one of two attempts %i turns apart",
  async (turns) => {
    for (let round = 0; round < 50; round += 1) {
      const path = join(folder, `${turns}-${round}`);
      const handles = await Promise.all([lockAfter(0, path), lockAfter(turns, path)]);
      const locked = handles.filter((handle) => handle !== undefined);
      expect(locked.length).toBe(1);

      // A released lock can be taken again.
      await locked[0]?.close();
      const next = await lockPrivateFile("image", path);
      expect(next).toBeDefined();
      await next?.close();
    }
  },
);
