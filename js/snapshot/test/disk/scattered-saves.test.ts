/** Saves of many single blocks, far apart. */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { createSnapshot, openSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";

const BLOCK = 2 ** 12;
const COUNT = trials({ few: 1500, all: 6000 });

const path = temporaryFolder();

/** Layouts of single blocks: the distance between two, the size of pieces, and whether there is data between them. */
const LAYOUTS = [
  { name: "in pieces of their own", step: 2 * BLOCK, pieceSize: BLOCK, isData: true },
  { name: "among data", step: 4 * BLOCK, pieceSize: 2 ** 18, isData: true },
  { name: "among zeros", step: 2 ** 20, pieceSize: 2 ** 20, isData: false },
] as const;

const limit = minutes({ all: 5 });

test.each(LAYOUTS)(
  "writes single blocks $name many at a time, and the same file",
  limit,
  async (layout) => {
    const { name, step, pieceSize, isData } = layout;
    const size = COUNT * step + 100;
    const [image, base] = [path(`${name}.img`), path(`${name}.vhs`)];
    const file = openSync(image, "w");
    ftruncateSync(file, size);
    if (isData) {
      const data = letters(name, 2 ** 20);
      for (let at = 0; at < size; at += data.length)
        writeSync(file, data, 0, Math.min(data.length, size - at), at);
    }
    const { digest } = await createSnapshot(image, base, { pieceSize, level: 1 });
    const disk = await openSnapshot(base, { image: path(`${name}.local`), digest, workers: 1 });
    await disk.filled;
    const bytes = noise(name, 2 * BLOCK);
    const blockOf = (at: number) => bytes.subarray(at % BLOCK, (at % BLOCK) + BLOCK);
    const changed = Array.from({ length: COUNT }, (_, at) => {
      return { start: at * step, end: at * step + BLOCK };
    });
    for (const [at, { start }] of changed.entries()) {
      await disk.write(start, blockOf(at));
      writeSync(file, blockOf(at), 0, BLOCK, start);
    }
    await disk.flush();

    const handle = await open(image);
    const writes = vi.spyOn(Object.getPrototypeOf(handle), "writeFile");
    const saved = await disk.save(path("saved.vhs"), { workers: 1 });
    expect(writes.mock.calls.length).toBeLessThan(COUNT / 50);
    writes.mockRestore();
    await handle.close();
    closeSync(file);
    await disk.close();

    // It is the delta that reading the whole image makes.
    expect(saved.changedBytes).toBeGreaterThanOrEqual(COUNT * BLOCK);
    const made = await createSnapshot(image, path("made.vhs"), {
      base,
      baseDigest: digest,
      changed,
    });
    expect(saved).toMatchObject({ digest: made.digest, changedBytes: made.changedBytes });
    expectSame(readFileSync(path("saved.vhs")), readFileSync(path("made.vhs")));
    if (size > 2 ** 28) return;
    await restoreSnapshot(path("saved.vhs"), path("restored.img"));
    expectSame(readFileSync(path("restored.img")), readFileSync(image));
  },
);
