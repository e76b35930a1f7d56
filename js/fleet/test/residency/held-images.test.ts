/** The images of a cache that changes while it is listed. */
import { expect, onTestFinished, test } from "vitest";

import { HeldImages } from "../../src/residency/held-images.js";
import { StubCache } from "../support/stub-cache.js";

/** Returns the images of a cache, whose listing ends when it is told to, with what the cache had at first. */
async function heldIn(cache: StubCache) {
  const entries = await cache.entries();
  let end = () => {};
  cache.entries = () =>
    new Promise((resolve) => {
      end = () => resolve(entries);
    });
  const images = new HeldImages(cache.asCache, () => {});
  onTestFinished(() => images.close());
  return { images, end: () => end() };
}

test("keeps what came and went while an older listing was on its way", async () => {
  const cache = new StubCache();
  const [gone, kept] = [cache.fill("gone"), cache.fill("kept")];
  const { images, end } = await heldIn(cache);

  const listed = images.list();
  const come = cache.fill("come");
  cache.evict(gone);
  expect(await images.difference()).toEqual({ added: [come], removed: [] });
  end();
  await listed;
  expect(await images.difference()).toEqual({ added: [kept], removed: [] });
  expect([...images.all].sort()).toEqual([come, kept].sort());
});

test("keeps an image that came while a listing ended that is older", async () => {
  const cache = new StubCache();
  const { images, end } = await heldIn(cache);
  const listed = images.list();
  const come = cache.fill("come");
  cache.has = async () => {
    end();
    await listed;
    return true;
  };
  expect(await images.difference()).toEqual({ added: [come], removed: [] });
  expect(await images.difference()).toEqual({ added: [], removed: [] });
  expect([...images.all]).toEqual([come]);
});
