import fc from "fast-check";
import { expect, test } from "vitest";

import { evictLeastRecentlyUsed } from "../../src/cache/eviction/least-recently-used.js";

interface Image {
  readonly bytes: number;
  readonly used: bigint;
  readonly isInUse: boolean;
}

const images = fc
  .array(fc.record({ bytes: fc.nat(100), used: fc.bigInt(0n, 2n ** 60n), isInUse: fc.boolean() }), {
    maxLength: 20,
  })
  // Of two that were used at once, either may go.
  .map((all): Image[] => [...new Map(all.map((image) => [image.used, image])).values()]);

/** Has images go as the cache does. Returns those that went, and what is not free yet. */
async function evicted(all: readonly Image[], wanted: number) {
  const gone: Image[] = [];
  const missing = await evictLeastRecentlyUsed(all, wanted, async (image) => {
    if (!image.isInUse) gone.push(image);
    return !image.isInUse;
  });
  return { gone, missing };
}

test("what was used the longest ago goes first, and no more than has to", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.integer({ min: -10, max: 1500 }), async (all, wanted) => {
      const { gone, missing } = await evicted(all, wanted);
      const idle = all.filter(({ isInUse }) => !isInUse);
      const inOrder = idle.sort((one, other) => (one.used < other.used ? -1 : 1));
      expect(gone).toEqual(inOrder.slice(0, gone.length));
      const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(missing).toBe(Math.max(0, wanted - freed));
      // Without the last one it would not have been enough.
      const last = gone.at(-1);
      if (last !== undefined) expect(freed - last.bytes).toBeLessThan(wanted);
      if (missing > 0) expect(gone.length).toBe(idle.length);
    }),
  );
});

test("the order in which images are found does not matter, nor does it change", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.nat(1500), async (all, wanted) => {
      const reversed = [...all].reverse();
      const before = [...reversed];
      expect((await evicted(reversed, wanted)).gone).toEqual((await evicted(all, wanted)).gone);
      expect(reversed).toEqual(before);
    }),
  );
});

test("times that no number can tell apart are told apart", async () => {
  const used = 2n ** 60n;
  const all = [used + 1n, used, used + 2n].map((time) => ({
    bytes: 1,
    used: time,
    isInUse: false,
  }));
  expect((await evicted(all, 1)).gone).toEqual([all[1]]);
});
