/** Deltas that are saved while a disk is in use. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createSnapshot, type Disk, openSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { FrameStates } from "../../dist/decode/frame-states.js";
import { copyInherited } from "../../dist/disk/base-image.js";
import type { DiskFiles } from "../../dist/disk/disk-files.js";
import { BlockSet } from "../../dist/format/block-set.js";
import { MIB, openCache } from "../support/cache.js";
import { type Chain, makeChain } from "../support/deltas.js";
import { type LoopDisk, xfsDisk } from "../support/loop-disk.js";
import { manifestOf } from "../support/resume-state.js";

const BLOCK = 2 ** 12;

/** How many disks are written to and saved, of each kind. */
const DISKS = trials({ few: 1, all: 4 });

/** How often each is saved: more often than a delta may have base objects. */
const SAVES = 10;

/** How often a disk is saved while it is written to. */
const ROUNDS = trials({ few: 2, all: 4 });

const folder = temporaryFolder();
const xfs = xfsDisk(320 * MIB);
let chain: Chain;

beforeAll(async () => {
  chain = await makeChain(folder);
});

const noDisk: LoopDisk = { path: folder };
const caches = ["no cache", "a cached base", "a cached image"] as const;
const places = {
  "a folder": { place: noDisk, fills: ["all", "none"], turn: 0 },
  // Only there, an image that is filled begins as a clone: that of a cached base.
  XFS: { place: xfs, fills: ["all"], turn: 2 },
} as const;

/** One of so many combinations is tried: in a folder, each cache and each fill once. */
const EVERY = trials({ few: caches.length, all: 1 });

/** Makes a folder with the snapshots of the chain. */
function folderWith(disk: LoopDisk, name: string): (name: string) => string {
  const path = (...parts: string[]) => disk.path(name, ...parts);
  mkdirSync(path(), { recursive: true });
  for (const file of Object.keys(chain.files)) copyFileSync(folder(file), path(file));
  return path;
}

/** Changes a random part of a disk, and of its image. */
async function change(disk: Disk, image: Buffer, random: Random): Promise<void> {
  const offset = random.below(image.length - 1);
  const longest = Math.min(random.below(8) === 0 ? 512 * 1024 : 3 * BLOCK, image.length - offset);
  const length = 1 + random.below(longest);
  const bytes =
    random.below(3) === 0 ? Buffer.alloc(length) : noise(`${random.below(2 ** 31)}`, length);
  await disk.write(offset, bytes);
  bytes.copy(image, offset);
}

describe.each(Object.entries(places))("on %s", (where, { place, fills, turn }) => {
  const cases = caches.flatMap((kept, row) =>
    fills
      .filter((_, column) => (row + column + turn) % EVERY === 0)
      .map((fill) => [kept, fill] as const),
  );

  test.each(cases)(
    `saves what changed, with %s and fill: %s`,
    // Each disk is saved and restored many times.
    minutes({ all: 5 }),
    async (kept, fill) => {
      for (let seed = 1; seed <= DISKS; seed += 1) {
        const random = new Random(seed);
        const path = folderWith(place, `${where}-${kept}-${fill}-${seed}`.replaceAll(" ", "-"));
        const cache = await openCache(path("cache"));
        if (kept === "a cached base") await (await cache.get(path("base.vhs"))).release();
        if (kept === "a cached image") await (await cache.get(path("a.vhs"))).release();
        const options = { image: path("disk"), cache, fill, workers: 1 };
        const image = Buffer.from(chain.image);
        const saved: Buffer[] = [];
        let disk = await openSnapshot(path("a.vhs"), options);
        try {
          for (let at = 0; at < SAVES; at += 1) {
            for (let left = random.below(4); left > 0; left -= 1) await change(disk, image, random);
            const info = await disk.save(path(`${at}.vhs`));
            expect(info.delta?.objects.length, `seed ${seed}`).toBeLessThanOrEqual(8);
            expect(disk.changedBytes).toBe(0);
            saved.push(Buffer.from(image));
            // A disk that is opened again is saved relative to its snapshot.
            if (random.below(4) === 0) {
              await disk.close();
              disk = await openSnapshot(path("a.vhs"), options);
            }
          }
          expectSame(await disk.read(0, disk.size), image);
        } finally {
          await disk.close();
        }
        for (const [at, expected] of saved.entries()) {
          await restoreSnapshot(path(`${at}.vhs`), path("restored"), { workers: 1 });
          expectSame(readFileSync(path("restored")), expected);
        }
        await cache.close();
        rmSync(path("."), { recursive: true });
      }
    },
  );
});

test("a save has what was written before, and nothing that was written after", async () => {
  const path = folderWith(noDisk, "concurrent");
  await using disk = await openSnapshot(path("a.vhs"), { image: path("disk") });
  const block = (round: number) => Buffer.alloc(BLOCK, round);
  const blocks = 64;
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let at = 0; at < blocks; at += 1) await disk.write(at * 3 * BLOCK, block(round));
    const saved = path(`${round}.vhs`);
    const saving = disk.save(saved);
    for (let at = 0; at < blocks; at += 1) await disk.write(at * 3 * BLOCK, block(100 + round));
    await saving;
    await restoreSnapshot(saved, path("restored"), { workers: 1 });
    const restored = readFileSync(path("restored"));
    // Writes that began while it was being saved are in it, or not, in their order.
    const found = Array.from({ length: blocks }, (_, at) => restored[at * 3 * BLOCK]);
    const after = found.indexOf(round);
    for (const [at, byte] of found.entries()) {
      expect(byte).toBe(after === -1 || at < after ? 100 + round : round);
      expectSame(restored.subarray(at * 3 * BLOCK, at * 3 * BLOCK + BLOCK), block(byte ?? 0));
    }
  }
});

test("saves parts of neighbouring pieces of an image that is not there", async () => {
  const path = folderWith(noDisk, "neighbours");
  await using disk = await openSnapshot(path("a.vhs"), { image: path("disk"), fill: "none" });
  const image = Buffer.from(chain.image);
  // Each gap is in two pieces.
  for (const block of [20, 44, 70]) {
    await disk.write(block * BLOCK, Buffer.alloc(BLOCK, block));
    image.fill(block, block * BLOCK, (block + 1) * BLOCK);
  }
  await disk.save(path("saved.vhs"));
  await restoreSnapshot(path("saved.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), image);
});

test("saves a clone of an image that is not there", async () => {
  const path = folderWith(xfs, "clone");
  const image = noise("clone", 36 * MIB);
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("full.vhs"), { pieceSize: MIB, workers: 1 });
  await using disk = await openSnapshot(path("full.vhs"), {
    ...{ image: path("disk"), fill: "none", workers: 1 },
  });
  // Fewer bytes would be copied. The last block has neighbours in its piece that are not in the image.
  const changes = [
    [0, noise("many", 32 * MIB)],
    [34 * MIB + 2 * BLOCK, noise("few", BLOCK)],
  ] as const;
  for (const [offset, bytes] of changes) {
    await disk.write(offset, bytes);
    bytes.copy(image, offset);
  }
  await disk.save(path("saved.vhs"));
  await restoreSnapshot(path("saved.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), image);
});

test("copies frames of a base once, and waits for those that another call copies", async () => {
  const path = folderWith(noDisk, "twice");
  const image = noise("twice", 4 * MIB);
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("full.vhs"), { pieceSize: MIB, workers: 1 });
  const manifest = await manifestOf(path("full.vhs"));
  const all = [...Array(manifest.frames.count).keys()];
  const [states, written] = [
    FrameStates.of(manifest.frames, () => true),
    BlockSet.of(image.length),
  ];
  for (const frame of all) states.inherit(frame);
  await using from = await open(path("image"));
  await using file = await open(path("copy"), "wx+");
  await file.truncate(image.length);
  const base = {
    fd: from.fd,
    name: path("image"),
    size: image.length,
    frames: new Set(all),
    close: async () => {},
  };
  const files = { file, mayHoldData: false, sets: { written } } as unknown as DiskFiles;
  const copy = async () => {
    await copyInherited(base, all, { states, manifest }, files, AbortSignal.timeout(60_000));
    expect(all.filter((frame) => !states.isDone(frame))).toEqual([]);
    expectSame(readFileSync(path("copy")), image);
  };
  await Promise.all([copy(), copy(), copy()]);
});

test("a save that fails loses nothing, and the next one has everything", async () => {
  const path = folderWith(noDisk, "failing");
  await using disk = await openSnapshot(path("a.vhs"), { image: path("disk") });
  const image = Buffer.from(chain.image);
  await change(disk, image, new Random(1));
  const { changedBytes } = disk;
  await expect(disk.save(path("missing/saved.vhs"))).rejects.toMatchObject({
    code: "ERR_TARGET",
  });
  await expect(disk.save(path("saved.vhs"), { signal: AbortSignal.abort("no") })).rejects.toBe(
    "no",
  );
  expect(disk.changedBytes).toBe(changedBytes);
  await change(disk, image, new Random(2));
  await disk.save(path("saved.vhs"));
  await restoreSnapshot(path("saved.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), image);
  await disk.filled;
  expect(leftovers(path("."))).toEqual([expect.stringMatching(/[.]state$/)]);
});

test("a save without changes is small, and restores", async () => {
  const path = folderWith(noDisk, "unchanged");
  await using disk = await openSnapshot(path("a.vhs"), { image: path("disk"), fill: "none" });
  // The first save stores data of a base again of which little is in use.
  await disk.save(path("compacted.vhs"));
  const { ownBytes } = (await disk.save(path("saved.vhs"))).delta ?? {};
  expect(ownBytes).toBe(0);
  await restoreSnapshot(path("saved.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), chain.image);
});

test("checks the options of a save", async () => {
  const path = folderWith(noDisk, "options");
  const disk = await openSnapshot(path("a.vhs"), { image: path("disk") });
  const to = path("saved.vhs");
  const wrong = { code: "ERR_ARGUMENT" };
  await expect(disk.save(to, { level: 99 })).rejects.toMatchObject(wrong);
  await expect(disk.save("", {})).rejects.toMatchObject(wrong);
  await expect(disk.save(path("a.vhs"))).rejects.toMatchObject(wrong);
  await disk.filled;
  await expect(disk.save(disk.image)).rejects.toMatchObject(wrong);
  expectSame(readFileSync(disk.image), chain.image);
  expectSame(readFileSync(path("a.vhs")), chain.files["a.vhs"]);
  await disk.close();
  await expect(disk.save(to)).rejects.toMatchObject({ code: "ERR_DISK_CLOSED" });
});
