/** Objects of which little is in use are dropped. */
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, inspectSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";

const MIB = 2 ** 20;
const HALF = MIB / 2;

const path = temporaryFolder();
const image = path("image");

/** Two more than there can be objects, or some more. */
const GENERATIONS = trials({ few: 10, all: 16 });

/** Writes an image, creates a delta, and checks that it restores. */
async function step(bytes: Buffer, from: string | undefined, to: string) {
  writeFileSync(image, bytes);
  const options = { workers: 1, level: 1, ...(from ? { base: path(from) } : {}) };
  const info = await createSnapshot(image, path(to), options);
  await restoreSnapshot(path(to), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), bytes);
  return info;
}

/** Returns an image with other data in a range. */
function edited(bytes: Buffer, seed: string, start: number, length: number): Buffer {
  const copy = Buffer.from(bytes);
  noise(seed, length).copy(copy, start);
  return copy;
}

test("writes the data of an object again once less than half of it is in use", async () => {
  const first = noise("first", 10 * HALF);
  await step(first, undefined, "0.vhs");
  for (const left of [6, 4]) {
    const changed = 10 - left;
    const second = edited(first, "second", left * HALF, changed * HALF);
    const delta = await step(second, "0.vhs", "1.vhs");
    expect(delta).toMatchObject({ rewrittenBytes: 0, changedBytes: changed * HALF });

    const info = await step(edited(second, "third", 8 * HALF, 4096), "1.vhs", "2.vhs");
    const rewrittenBytes = left === 4 ? 4 * HALF : 0;
    expect(info).toMatchObject({ rewrittenBytes, changedBytes: rewrittenBytes + 4096 });
    const { digest } = await inspectSnapshot(path("0.vhs"));
    const objects = info.delta?.objects.map((object) => object.digest);
    expect(objects?.sort()).toEqual((left === 4 ? [delta.digest] : [delta.digest, digest]).sort());
  }
});

test("keeps a full snapshot as the base, since all of it is in use", async () => {
  const bytes = noise("tiny", 5000);
  await step(bytes, undefined, "tiny.vhs");
  const info = await step(edited(bytes, "b", 0, 4096), "tiny.vhs", "b.vhs");
  expect(info).toMatchObject({ rewrittenBytes: 0, changedBytes: 4096 });
});

test("drops the objects with the least data in use when there are more than eight", async () => {
  let bytes = noise("many", 3 * MIB);
  await step(bytes, undefined, "many-0.vhs");
  for (let generation = 1; generation <= GENERATIONS; generation += 1) {
    // Later generations have more data, so that the oldest deltas are dropped.
    const length = generation * 8192;
    bytes = edited(bytes, `${generation}`, generation * 200_704, length);
    const info = await step(bytes, `many-${generation - 1}.vhs`, `many-${generation}.vhs`);
    expect(info.delta?.objects.length).toBe(Math.min(generation, 8));
    const rewritten = Math.max(0, (generation - 8) * 8192);
    expect(info.rewrittenBytes, `generation ${generation}`).toBe(rewritten);
  }
  const { digest } = await inspectSnapshot(path("many-0.vhs"));
  const { delta } = await inspectSnapshot(path(`many-${GENERATIONS}.vhs`));
  expect(delta?.objects.map((object) => object.digest)).toContain(digest);
});

test("needs no base if all of its data is written again", async () => {
  const bytes = noise("whole", MIB);
  await step(bytes, undefined, "whole.vhs");
  const info = await step(noise("other", MIB), "whole.vhs", "alone.vhs");
  expect(info.delta).toMatchObject({ depth: 1, objects: [], sharedBytes: 0 });
});
