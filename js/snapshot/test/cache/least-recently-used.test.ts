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
  // Of two images with the same time, either may be evicted.
  .map((all): Image[] => [...new Map(all.map((image) => [image.used, image])).values()]);

/** Evicts images that are not in use. Returns them, and the number of missing bytes. */
async function evict(all: readonly Image[], wanted: number) {
  const evicted: Image[] = [];
  const missing = await evictLeastRecentlyUsed(all, wanted, async (image) => {
    if (!image.isInUse) evicted.push(image);
    return !image.isInUse;
  });
  return { evicted, missing };
}

test("evicts the least recently used images, and no more than necessary", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.integer({ min: -10, max: 1500 }), async (all, wanted) => {
      const { evicted, missing } = await evict(all, wanted);
      const idle = all.filter(({ isInUse }) => !isInUse);
      const inOrder = idle.sort((one, other) => (one.used < other.used ? -1 : 1));
      expect(evicted).toEqual(inOrder.slice(0, evicted.length));
      const freed = evicted.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(missing).toBe(Math.max(0, wanted - freed));
      // Without the last one, too little would be freed.
      const last = evicted.at(-1);
      if (last !== undefined) expect(freed - last.bytes).toBeLessThan(wanted);
      if (missing > 0) expect(evicted.length).toBe(idle.length);
    }),
  );
});

test("ignores the order in which images are found, and does not change it", async () => {
  await fc.assert(
    fc.asyncProperty(images, fc.nat(1500), async (all, wanted) => {
      const reversed = [...all].reverse();
      const before = [...reversed];
      expect((await evict(reversed, wanted)).evicted).toEqual((await evict(all, wanted)).evicted);
      expect(reversed).toEqual(before);
    }),
  );
});

test("compares times that a number cannot represent exactly", async () => {
  const used = 2n ** 60n;
  const all = [used + 1n, used, used + 2n].map((time) => ({
    bytes: 1,
    used: time,
    isInUse: false,
  }));
  expect((await evict(all, 1)).evicted).toEqual([all[1]]);
});
