/** The simulated cache contains the same images as an `ImageCache` that restores real snapshots. */
import { writeFileSync } from "node:fs";
import { type CachedImage, createSnapshot, ImageCache } from "@hedgerow/snapshot";
import { MARGIN } from "@hedgerow/snapshot/eviction";
import { expect, test } from "vitest";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { quickFolder } from "../../../snapshot/test/support/stored-images.js";
import { HostCache } from "../../src/simulation/host-cache.js";
import { Random } from "../../src/simulation/random.js";

/** Sizes are multiples of this: much more than the files of a cache that are not images. */
const UNIT = 2 ** 19;

const [IMAGES, STEPS] = [6, 60];

const path = quickFolder();

/** A snapshot, and the size of its image in units. */
interface Snapshot {
  readonly source: string;
  readonly digest: string;
  readonly units: number;
}

async function makeSnapshot(index: number, units: number): Promise<Snapshot> {
  const [image, source] = [path(`${index}.img`), path(`${index}.vhs`)];
  writeFileSync(image, noise(`${index}`, units * UNIT));
  const { digest } = await createSnapshot(image, source, { workers: 1 });
  return { source, digest, units };
}

const SEEDS = [1, 2, 3].slice(0, trials({ few: 1, all: 3 }));

test.for(SEEDS)("contains the same images as an ImageCache, seed %s", async (seed) => {
  const random = new Random(seed);
  const snapshots: Snapshot[] = [];
  for (let index = 0; index < IMAGES; index += 1) {
    snapshots.push(await makeSnapshot(index, 1 + random.below(4)));
  }
  // Half a unit more, so that records and journals do not count.
  const space = (5 + random.below(4)) * UNIT + UNIT / 2;
  const empty = await ImageCache.open(path(`cache-${seed}`), { maxBytes: 2 ** 40 });
  const { bytes: ownBytes } = await empty.stats();
  await empty.close();
  const maxBytes = ownBytes + MARGIN + space;
  const real = await ImageCache.open(path(`cache-${seed}`), { maxBytes });
  const simulated = new HostCache<string>(MARGIN + space);
  const held: CachedImage[] = [];
  let hits = 0;
  const release = async () => {
    const [image] = held.splice(random.below(held.length), 1);
    if (image === undefined) return;
    await image.release();
    simulated.release(image.info.digest);
  };
  for (let step = 0; step < STEPS; step += 1) {
    if (random.next() < 0.5) {
      const { source, digest, units } = snapshots[random.below(IMAGES)]!;
      const image = await real.get(source, { digest, workers: 1 });
      expect(simulated.take(digest)).toBe(image.hit);
      if (image.hit) hits += 1;
      else {
        expect(simulated.reserve(digest, units * UNIT)).toBe(true);
        simulated.publish(digest, units * UNIT);
      }
      held.push(image);
    } else await release();
    const entries = await real.entries();
    expect(simulated.images().reverse()).toEqual(entries.map(({ digest }) => digest));
  }
  while (held.length > 0) await release();
  const { evictions } = await real.stats();
  await real.close();
  expect(hits).toBeGreaterThan(0);
  expect(evictions).toBeGreaterThan(0);
});
