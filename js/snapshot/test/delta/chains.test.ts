/** Chains of deltas restore every image, and each delta is the same however its changes were found. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { openCache } from "../support/cache.js";
import { changed, differences, randomImage } from "../support/changes.js";

const KIB = 2 ** 10;
const GENERATIONS = trials({ few: 8, all: 12 });

const path = temporaryFolder();
const SEEDS = Array.from({ length: trials({ few: 1, all: 20 }) }, (_, seed) => seed);

/** Returns whether a step belongs to a generation: in `npm test` to one of `few`, and with all trials to each. */
function hasStep(generation: number, few: number, phase = 0): boolean {
  const every = trials({ few, all: 1 });
  return generation % every === phase % every;
}

test.each(SEEDS)(`restores each of ${GENERATIONS} generations of deltas, seed %i`, async (seed) => {
  const random = new Random(seed);
  const cache = await openCache(path(`cache-${seed}`));
  const pieceSize = 4 * KIB * 2 ** random.below(6);
  const name = (generation: number) => path(`${seed}-${generation}.vhs`);
  const [image, restored] = [path(`${seed}.img`), path(`${seed}.restored`)];
  let bytes = randomImage(random, 900 * KIB);
  writeFileSync(image, bytes);
  await createSnapshot(image, name(0), { pieceSize, level: 1, workers: 1 });

  for (let generation = 1; generation <= GENERATIONS; generation += 1) {
    const [base, before] = [name(generation - 1), bytes];
    bytes = changed(random, before);
    writeFileSync(image, bytes);
    const level = 1 + random.below(3);
    const create = async (options: CreateOptions) => {
      const all = { base, level, ...options };
      const info = await createSnapshot(image, name(generation), { workers: 1, ...all });
      return { info, file: readFileSync(name(generation)) };
    };

    const named = await create({ changed: differences(bytes, before) });
    expect(named.info.detection).toBe("changed");
    if (hasStep(generation, 2)) {
      await (await cache.get(base)).release();
      const compared = await create({ cache });
      expect(compared.info.detection).toBe("compare");
      expectSame(compared.file, named.file);
    }
    const workers = 1 + random.below(3);
    let last = named;
    if (hasStep(generation, 2, 1)) {
      last = await create({ workers });
      expect(last.info.detection).toBe("digests");
      expectSame(last.file, named.file);
    }

    const { info, file } = last;
    expect(info.delta?.depth).toBe(generation);
    expect(info.delta?.objects.length).toBeLessThanOrEqual(8);
    expect(info).toMatchObject({ imageSize: bytes.length, pieceSize, fileSize: file.length });
    const { detection, changedBytes, rewrittenBytes, duration, ...described } = info;
    expect(await inspectSnapshot(name(generation))).toEqual(described);
    if (hasStep(generation, 4)) await verifySnapshot(name(generation), { workers: 1 });
    await restoreSnapshot(name(generation), restored, { workers: 1 });
    expectSame(readFileSync(restored), bytes);
  }
  expect(leftovers(path())).toEqual([]);
});
