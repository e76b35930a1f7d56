/** Requests that take long on a disk leave the event loop to others in between. */
import { expect, test } from "vitest";

import { DiskEngine, type EngineParts } from "../../dist/disk/engine.js";

const MIB = 2 ** 20;

/** Counts the turns of the event loop until a promise settles. */
async function turnsUntil(done: Promise<void>): Promise<number> {
  let [turns, isDone] = [0, false];
  const end = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await end;
  return turns;
}

test.each(["writeZeros", "discard"] as const)("%s of much lets others go on", async (method) => {
  const cleared: number[] = [];
  const image = {
    partialBlocks: () => [],
    clear: async (start: number, end: number) => void cleared.push(end - start),
  };
  const parts = { layout: { size: 1024 * MIB }, image, isReadOnly: false };
  const engine = new DiskEngine(parts as unknown as EngineParts);
  expect(await turnsUntil(engine[method](0, 1024 * MIB, true))).toBeGreaterThanOrEqual(32);
  expect(cleared).toEqual(Array.from({ length: 32 }, () => 32 * MIB));
});

test("the status of a fragmented range is that of its beginning", () => {
  const parts = function* (start: number, end: number) {
    for (let at = start; at < end; at += 4096) yield { start: at, end: at + 4096, frame: 0 };
  };
  let looks = 0;
  const statusAt = (_: number, { end }: { end: number }) => {
    looks += 1;
    return { end, isHole: false, isMissing: true };
  };
  const layout = { size: 4096 * MIB, parts };
  const fake = { layout, image: { statusAt }, isReadOnly: false };
  const engine = new DiskEngine(fake as unknown as EngineParts);
  const extents = engine.status("x-hedgerow:filled", 0, 4095 * MIB, 16_384);
  expect(extents).toEqual([{ length: looks * 4096, flags: 1 }]);
  expect(looks).toBe(16_384);
});
