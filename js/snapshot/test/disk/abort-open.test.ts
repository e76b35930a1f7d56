/** An abort while a disk is being opened ends it, whenever it comes. */
import { writeFileSync } from "node:fs";
import { createSnapshot, openSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";

const path = temporaryFolder();

test("an abort at any moment rejects, or the disk was open before and can be closed", async () => {
  writeFileSync(path("disk.img"), noise("image", 2 ** 20));
  await createSnapshot(path("disk.img"), path("disk.vhs"), { workers: 1 });
  const ends: string[] = [];
  for (let turns = 0; ends.at(-1) !== "open"; turns = Math.ceil(turns * 1.1) + 1) {
    const controller = new AbortController();
    const { signal } = controller;
    let isOpen = false;
    const opening = openSnapshot(path("disk.vhs"), { image: path(`${turns}`), workers: 1, signal });
    opening.then(
      () => {
        isOpen = true;
      },
      () => {},
    );
    for (let turn = 0; turn < turns; turn += 1) await new Promise((next) => setImmediate(next));
    const wasOpen = isOpen;
    controller.abort(new Error("aborted by the test"));
    try {
      await (await opening).close();
      ends.push(wasOpen ? "open" : "opened");
    } catch (error) {
      expect((error as Error).message).toBe("aborted by the test");
      ends.push("rejected");
    }
  }
  expect(ends[0]).toBe("rejected");
  expect(ends.at(-1)).toBe("open");
});
